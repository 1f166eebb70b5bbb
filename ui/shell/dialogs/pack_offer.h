// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/recipe.h"
#include "ui/session/jobs/pipeline.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <optional>

namespace qs {

class MainWindow;
class PacksDialog;

inline const QString kPacksTopic = QStringLiteral("packs");

/// Offers extension packs that an opened file needs: a message with a button that adds a missing
/// pack and then opens the file again. The packs that a file needed are stored in the settings
/// beside the recent files; only the user loads a pack.
/// Outlives the views. GUI thread only.
class PackOffer : public QObject
{
    Q_OBJECT

public:
    PackOffer(MainWindow& window, QObject* parent);

    /// Notes the file that is being opened, to open it again.
    void noteOpening(const QString& path, const Recipe& recipe);
    /// Where a pack would cure the failure, says so with a button that adds one, and returns true.
    bool offer(Stage stage, const Error& error);
    /// The list of packs, where one is added too.
    PacksDialog& openDialog();

private:
    struct File
    {
        QString path;
        Recipe recipe;
    };
    void show(const QString& headline, const QString& detail, bool isError);
    void add(const QString& folder);
    void onPlanned();
    void remember();
    bool retry();

    MainWindow& m_window;
    File m_noted;
    std::optional<File> m_refused; ///< did not open for want of a pack
    bool m_isNew = false; ///< not planned yet since it was opened
};

/// "needs sparse_conv" for a file that was used with packs; else empty.
QString packsText(const QString& path);

} // namespace qs

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

    /// Stores the file that is being opened, so that it can be opened again.
    void noteOpening(const QString& path, const Recipe& recipe);
    /// If a pack may cure the failure: shows a message with a button that adds one, and returns
    /// true.
    bool offer(Stage stage, const Error& error);
    /// Opens the dialog with the list of packs.
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
    std::optional<File> m_refused; ///< failed to open without a pack
    bool m_isNew = false; ///< not planned yet after opening
};

/// Returns "needs sparse_conv" for a file that was used with packs; else empty.
QString packsText(const QString& path);

} // namespace qs

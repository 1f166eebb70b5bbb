// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/extension_packs.h"
#endif

#include <QDialog>
#include <QPointer>

class QAction;
class QLabel;
class QPushButton;
class QStatusBar;
class QTreeWidget;

namespace qs {

class JobRunner;
class MessageBar;
class Workspace;
struct Recipe;

inline const QString kPacksTopic = QStringLiteral("packs");

/// The extension packs of this process and what each adds. Of a folder that the user adds the path,
/// the hash and what it says that it adds are shown; none of its code runs before the user says so,
/// which is asked once for each hash and kept in the settings. Then it is tried in a copy of the
/// process and loaded, on the engine's lane, and the open model is planned anew. What went wrong is
/// said in the dialog, which stays. GUI thread only.
class PacksDialog : public QDialog
{
    Q_OBJECT

public:
    PacksDialog(Workspace& workspace, QWidget* parent);
    ~PacksDialog() override;

private:
    QWidget* buildQuestion();
    void chooseFolder();
    void readFolder(const QString& folder);
    void onRead(const ExtensionPackPtr& pack);
    void allow();
    void load(const ExtensionPackPtr& pack);
    void ask(ExtensionPackPtr pack);
    /// Lists what is loaded, and what is asked about below it.
    void refresh();
    void addPack(const ExtensionPack& pack);
    void say(const QString& problem);
    void setBusy(const QString& what);

    Workspace& m_workspace;
    QPointer<JobRunner> m_jobs;
    ExtensionPackPtr m_asked; ///< read, and not loaded yet
    QTreeWidget* m_packs;
    QLabel* m_problem;
    QLabel* m_busy;
    QLabel* m_questionText = nullptr;
    QPushButton* m_load = nullptr;
    QWidget* m_question; ///< after its parts, which are set while it is built
    QPushButton* m_add;
};

/// Where the recipe asks for a pack that is not loaded, says so with a button that opens the
/// dialog, and returns true.
bool offerPacks(MessageBar& messages, QAction& packs, const Recipe& recipe);

/// From now on the status says it when the recipe asks no longer for a pack that is loaded, as
/// after an undo: code that runs in a process cannot be taken out of it.
void tellPacksThatStay(Workspace& workspace, QStatusBar& status);

} // namespace qs

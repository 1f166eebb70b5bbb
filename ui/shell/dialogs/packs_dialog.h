// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/extension_packs.h"
#endif

#include <QDialog>
#include <QPointer>

#include <functional>

class QLabel;
class QPushButton;
class QStatusBar;
class QTreeWidget;

namespace qs {

class JobRunner;
class Workspace;

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

    /// Asks for a folder, as Add does.
    void chooseFolder();
    /// Reads the folder, and loads it once the user has said so.
    void readFolder(const QString& folder);
    /// Called after a load, even if the dialog is gone. True: something is opened again, so that
    /// the open model has nothing to take up, and the dialog closes.
    void setRetry(std::function<bool()> retry) { m_retry = std::move(retry); }

private:
    QWidget* buildQuestion();
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
    std::function<bool()> m_retry;
    ExtensionPackPtr m_asked; ///< read, and not loaded yet
    QTreeWidget* m_packs;
    QLabel* m_problem;
    QLabel* m_busy;
    QLabel* m_questionText = nullptr;
    QPushButton* m_load = nullptr;
    QWidget* m_question; ///< after its parts, which are set while it is built
    QPushButton* m_add;
};

/// From now on the status says it when the recipe asks no longer for a pack that is loaded, as
/// after an undo: code that runs in a process cannot be taken out of it.
void tellPacksThatStay(Workspace& workspace, QStatusBar& status);

} // namespace qs

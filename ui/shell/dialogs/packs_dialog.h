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

/// The extension packs of this process and their content. For a new folder, shows its path, its
/// hash and the content that it declares; none of its code runs before the user agrees, once for
/// each hash; the answer is stored in the settings. Then the pack is tried in a copy of the process
/// and loaded, on the engine's lane, and the open model is planned again. The dialog shows errors
/// and stays open. GUI thread only.
class PacksDialog : public QDialog
{
    Q_OBJECT

public:
    PacksDialog(Workspace& workspace, QWidget* parent);
    ~PacksDialog() override;

    /// Asks for a folder, as Add does.
    void chooseFolder();
    /// Reads the folder, and loads it after the user agreed.
    void readFolder(const QString& folder);
    /// Sets the function to call after a load, even if the dialog is closed. It returns true if it
    /// opens a file again: then the open model is not planned and the dialog closes.
    void setRetry(std::function<bool()> retry) { m_retry = std::move(retry); }

private:
    QWidget* buildQuestion();
    void onRead(const ExtensionPackPtr& pack);
    void allow();
    void load(const ExtensionPackPtr& pack);
    void ask(ExtensionPackPtr pack);
    /// Lists the loaded packs, and below them the pack to agree to.
    void refresh();
    void addPack(const ExtensionPack& pack);
    void say(const QString& problem);
    void setBusy(const QString& what);

    Workspace& m_workspace;
    QPointer<JobRunner> m_jobs;
    std::function<bool()> m_retry;
    ExtensionPackPtr m_asked; ///< read but not loaded yet
    QTreeWidget* m_packs;
    QLabel* m_problem;
    QLabel* m_busy;
    QLabel* m_questionText = nullptr;
    QPushButton* m_load = nullptr;
    QWidget* m_question; ///< declared after its parts, which `buildQuestion` sets
    QPushButton* m_add;
};

/// Makes the status bar report a loaded pack that the recipe no longer needs, for example after an
/// undo: a process cannot unload code.
void tellPacksThatStay(Workspace& workspace, QStatusBar& status);

} // namespace qs

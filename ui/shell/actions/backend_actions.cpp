// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/backend_actions.h"

#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/workspace.h"
#include "ui/shell/backend/backend_dialog.h"

#include <QAction>
#include <QMainWindow>
#include <QStatusBar>

namespace qs {

BackendActions::BackendActions(Actions& actions, Workspace& workspace, const OpenedFiles& files,
                               MessageBar& messages, QMainWindow& window, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_files(files)
    , m_messages(messages)
    , m_window(window)
{
    connect(&actions[ActionId::EditBackend], &QAction::triggered, this, &BackendActions::edit);
    connect(&actions[ActionId::ApplyRemedy], &QAction::triggered, this,
            [this] { applySuggestion(m_workspace.selection().current()); });
}

void BackendActions::edit()
{
    const auto* decided = m_workspace.facts().plan(m_workspace.selection().current());
    openEditor(editedBackend(m_workspace.document().recipe()),
               decided ? decided->patternEntry : -1);
}

void BackendActions::startEmpty()
{
    Recipe empty = m_workspace.document().recipe();
    empty.backend = "empty";
    openEditor(editedBackend(empty), -1);
}

void BackendActions::openEditor(const Result<Backend>& backend, int entry)
{
    if (!backend) {
        m_messages.showError(tr("Reading the backend"), backend.error());
        return;
    }
    auto* dialog
        = new BackendDialog(m_workspace, *backend, backendFolder(m_workspace, m_files), &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->showEntry(entry);
    dialog->open();
}

void BackendActions::applySuggestion(NodeId node)
{
    const auto missing = missingFusion(m_workspace, node);
    if (!missing) {
        m_workspace.applyRemedy(node);
        return;
    }
    const QString fusion = shortPattern(missing->pattern);
    const QString path = backendFileIn(backendFolder(m_workspace, m_files), missing->backend);
    const auto used = useBackend(m_workspace, tr("add the fusion (%1) to the backend").arg(fusion),
                                 missing->backend, path);
    if (used)
        m_window.statusBar()->showMessage(
            tr("The backend fuses (%1) now: it is %2").arg(fusion, path), 12000);
    else
        m_messages.showError(tr("Adding a fusion"), used.error());
}

} // namespace qs

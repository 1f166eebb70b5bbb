// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/backend_actions.h"

#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/panels/property_panel.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/workspace.h"
#include "ui/shell/backend/backend_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/project_files.h"

#include <QAction>
#include <QStatusBar>

namespace qs {

BackendActions::BackendActions(MainWindow& window, QObject* parent)
    : QObject(parent)
    , m_window(window)
{
    Actions& actions = window.actions();
    connect(&actions[ActionId::EditBackend], &QAction::triggered, this, &BackendActions::edit);
    connect(&actions[ActionId::ApplyRemedy], &QAction::triggered, this,
            [this] { applySuggestion(m_window.workspace().selection().current()); });
    connect(&window.propertyPanel(), &PropertyPanel::suggestionTaken, this,
            &BackendActions::applySuggestion);
}

void BackendActions::edit()
{
    Workspace& workspace = m_window.workspace();
    const auto backend = editedBackend(workspace.document().recipe());
    if (!backend) {
        m_window.messageBar().showError(tr("Reading the backend"), backend.error());
        return;
    }
    auto* dialog = new BackendDialog(workspace, *backend,
                                     backendFolder(workspace, m_window.projects()), &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (const auto* decided = workspace.facts().plan(workspace.selection().current()))
        dialog->showEntry(decided->patternEntry);
    dialog->open();
}

void BackendActions::applySuggestion(NodeId node)
{
    Workspace& workspace = m_window.workspace();
    const auto missing = missingFusion(workspace, node);
    if (!missing) {
        workspace.applyRemedy(node);
        return;
    }
    const QString fusion = shortPattern(missing->pattern);
    const QString path
        = backendFileIn(backendFolder(workspace, m_window.projects()), missing->backend);
    const auto used = useBackend(workspace, tr("add the fusion (%1) to the backend").arg(fusion),
                                 missing->backend, path);
    if (used)
        m_window.statusBar()->showMessage(
            tr("The backend fuses (%1) now: it is %2").arg(fusion, path), 12000);
    else
        m_window.messageBar().showError(tr("Adding a fusion"), used.error());
}

} // namespace qs

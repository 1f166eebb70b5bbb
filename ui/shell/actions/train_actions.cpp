// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/train_actions.h"

#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/session/opened_files.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/dialogs/train_dialog.h"

#include <QAction>
#include <QMainWindow>
#include <QStatusBar>

namespace qs {

TrainActions::TrainActions(Actions& actions, Workspace& workspace, const OpenedFiles& files,
                           MessageBar& messages, QMainWindow& window, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_files(files)
    , m_window(window)
{
    QAction& action = actions[ActionId::Train];
    connect(&action, &QAction::triggered, this, &TrainActions::open);
    const auto refresh
        = [&action, &workspace] { action.setEnabled(workspace.trainer().canStart()); };
    const Document* document = &workspace.document();
    for (const auto changed :
         {&Document::modelChanged, &Document::planChanged, &Document::settingsChanged})
        connect(document, changed, this, refresh);
    refresh();
    const ModelTrainer* trainer = &workspace.trainer();
    connect(trainer, &ModelTrainer::failed, this, [this, &messages](const Error& error) {
        if (!m_window.findChild<TrainDialog*>())
            messages.showError(tr("Training"), error);
    });
    connect(trainer, &ModelTrainer::finished, this, [this] {
        if (!m_window.findChild<TrainDialog*>())
            m_window.statusBar()->showMessage(
                tr("Trained: %1").arg(m_workspace.trainer().resultText()), 12000);
    });
}

void TrainActions::open()
{
    if (!m_workspace.trainer().canStart() || m_window.findChild<TrainDialog*>())
        return;
    const QString model = toQString(m_workspace.document().model()->info().path);
    auto* dialog
        = new TrainDialog(m_workspace, freeTrainedFile(model, m_files.projectPath()), &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/help_actions.h"

#include "ui/frame/actions.h"
#include "ui/help/about_dialog.h"
#include "ui/help/help_topics.h"
#include "ui/help/help_window.h"
#include "ui/panels/guide_panel.h"
#include "ui/session/workspace.h"
#include "ui/style/widgets.h"

#include <QAction>
#include <QApplication>
#include <QCursor>
#include <QDialog>
#include <QKeyEvent>
#include <QSettings>
#include <QTextBrowser>

namespace qs {

namespace {

const QString kGuideKey = QStringLiteral("guideHidden");

bool isOf(const QWidget& window, const QWidget& dialog)
{
    const QObject* owner = &dialog;
    while (owner && owner != &window)
        owner = owner->parent();
    return owner;
}

} // namespace

HelpActions::HelpActions(Actions& actions, Workspace& workspace, QWidget& window, QObject* parent)
    : QObject(parent)
    , m_actions(actions)
    , m_window(window)
{
    buildGuide(workspace);
    connect(&m_actions[ActionId::Help], &QAction::triggered, this,
            [this] { showHere(QApplication::focusWidget()); });
    connect(&m_actions[ActionId::Keys], &QAction::triggered, this, &HelpActions::showKeys);
    connect(&m_actions[ActionId::About], &QAction::triggered, this, &HelpActions::showAbout);
    qApp->installEventFilter(this);
}

void HelpActions::buildGuide(Workspace& workspace)
{
    const auto has = [](Stage stage) {
        return [stage](Workspace& workspace) { return workspace.document().hasResult(stage); };
    };
    m_guide = new GuidePanel(
        workspace,
        {{tr("Open a model"), &m_actions[ActionId::Open],
          [](Workspace& workspace) { return workspace.document().model() != nullptr; }},
         {tr("Choose the target"), &m_actions[ActionId::Backend],
          [](const Workspace& w) {
              return w.document().model() && w.document().recipe().namesTarget();
          }},
         {tr("Calibrate"), &m_actions[ActionId::Calibrate], has(Stage::Calibrate)},
         {tr("Compare with float"), &m_actions[ActionId::Compare], has(Stage::Compare)},
         {tr("Change a decision"), &m_actions[ActionId::Assign],
          [](Workspace& workspace) { return workspace.undoStack().index() > 0; }},
         {tr("Export"), &m_actions[ActionId::Export], has(Stage::Export)}},
        &m_window);
    auto& action = m_actions[ActionId::Guide];
    action.setChecked(!QSettings().value(kGuideKey, false).toBool());
    m_guide->setVisible(action.isChecked());
    connect(&action, &QAction::toggled, this, [this](bool shown) {
        m_guide->setVisible(shown);
        QSettings().setValue(kGuideKey, !shown);
    });
    for (const auto wanted : {&GuidePanel::closeWanted, &GuidePanel::completed})
        connect(m_guide, wanted, &action, [&action] { action.setChecked(false); });
}

/// The help window belongs to the modal dialog, if there is one, so that the dialog does not block
/// it.
void HelpActions::showTopic(const QString& place, const QString& term)
{
    QWidget* owner = QApplication::activeModalWidget();
    if (!owner)
        owner = &m_window;
    auto* help = owner->findChild<HelpWindow*>(QString(), Qt::FindDirectChildrenOnly);
    if (!help)
        help = new HelpWindow(owner);
    help->showTopic(place, term);
    help->show();
    help->raise();
    help->activateWindow();
}

/// Shows the help for the focus widget, else for the widget under the pointer.
void HelpActions::showHere(const QWidget* keyboard)
{
    QString place = helpPlaceAt(keyboard);
    if (place.isEmpty())
        place = helpPlaceAt(QApplication::widgetAt(QCursor::pos()));
    showTopic(place.isEmpty() ? helpTopics().front().id : place);
}

/// Handles the help key in modal dialogs, which the window's shortcut does not reach.
bool HelpActions::eventFilter(QObject* watched, QEvent* event)
{
    const auto* modal = QApplication::activeModalWidget();
    const auto* keyboard = qobject_cast<QWidget*>(watched);
    if (modal && keyboard && event->type() == QEvent::KeyPress && isOf(m_window, *modal)) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (QKeySequence(key->keyCombination()) == m_actions[ActionId::Help].shortcut()) {
            showHere(keyboard);
            return true;
        }
    }
    return QObject::eventFilter(watched, event);
}

/// Shows the list of shortcuts in a dialog that scrolls: it is too long for a message box.
void HelpActions::showKeys()
{
    QString rows, menu;
    for (const QAction* action : m_actions.all()) {
        if (const QString title = Actions::menuOf(*action); title != menu) {
            menu = title;
            rows += QStringLiteral("<tr><td colspan=2><h4>%1</h4></td></tr>").arg(menu);
        }
        rows += QStringLiteral("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(action->shortcut().toString(QKeySequence::NativeText), action->toolTip());
    }
    auto* dialog = new QDialog(&m_window);
    dialog->setObjectName(QStringLiteral("keysDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Keys"));
    dialog->resize(600, 640);
    auto* text = new QTextBrowser(dialog);
    setNames(*text, "keysText", tr("Keys and what they do"));
    text->setFrameShape(QFrame::NoFrame);
    text->document()->setDocumentMargin(14);
    text->setHtml(tr("<p>In the graph: the wheel scrolls, Ctrl+wheel zooms, dragging pans, "
                     "Shift+dragging selects, Ctrl+dragging zooms to a part, a double click folds. "
                     "Alt+1 to Alt+9 save the view, 1 to 9 return to it.</p><table>%1</table>")
                      .arg(rows));
    makeVBox(dialog)->addWidget(text);
    dialog->open();
}

void HelpActions::showAbout()
{
    auto* dialog = new AboutDialog(&m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

} // namespace qs

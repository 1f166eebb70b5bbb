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
#include <QSettings>
#include <QTextBrowser>

namespace qs {

namespace {

const QString kGuideKey = QStringLiteral("guideHidden");

} // namespace

HelpActions::HelpActions(Actions& actions, Workspace& workspace, QWidget& window, QObject* parent)
    : QObject(parent)
    , m_actions(actions)
    , m_window(window)
{
    nameTopics();
    buildGuide(workspace);
    connect(&m_actions[ActionId::Help], &QAction::triggered, this, &HelpActions::showHere);
    connect(&m_actions[ActionId::Keys], &QAction::triggered, this, &HelpActions::showKeys);
    connect(&m_actions[ActionId::About], &QAction::triggered, this, &HelpActions::showAbout);
}

/// What F1 explains where.
void HelpActions::nameTopics()
{
    static const std::pair<const char*, const char*> topics[] = {
        {"stageBackend", "backend"},
        {"stagePlan", "plan"},
        {"stageCalibrate", "calibration"},
        {"stageConvert", "lowering"},
        {"stageCompare", "comparison-and-error-terms"},
        {"stageExport", "export"},
        {"search", "search"},
        {"searchPanel", "search"},
        {"moduleTree", "modules-folding-and-bodies"},
        {"graphPane", "modules-folding-and-bodies"},
        {"verdictList", "verdict"},
        {"cardQuantization", "qconfig"},
        {"cardWhy", "rule"},
        {"cardLoss", "comparison-and-error-terms"},
        {"cardInside", "inside-a-recurrent-module"},
        {"cardContents", "modules-folding-and-bodies"},
        {"histogramPlot", "histogram"},
        {"errorBarPlot", "comparison-and-error-terms"},
        {"channelPlot", "channels"},
        {"codePanel", "prepared-reference-and-lowered-form"},
        {"valuesPage", "values-of-a-node"},
        {"findingsPanel", "findings"},
        {"stylePanel", "style-rules"},
        {"colourBy", "colours-of-the-graph"},
        {"cardValues", "stored-values"},
        {"recipeText", "recipe"},
        {"recipeHistory", "undo-and-history"},
        {"emptyState", "first-model"},
    };
    for (const auto& [name, id] : topics)
        if (auto* widget = m_window.findChild<QWidget*>(QString::fromLatin1(name)))
            setHelpTopic(widget, id);
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

void HelpActions::showTopic(const QString& id)
{
    if (!m_help)
        m_help = new HelpWindow(&m_window);
    m_help->showTopic(id);
    m_help->show();
    m_help->raise();
    m_help->activateWindow();
}

/// The keyboard's place counts first; the pointer's where that says nothing.
void HelpActions::showHere()
{
    const auto* topic = helpTopicAt(QApplication::focusWidget());
    if (!topic)
        topic = helpTopicAt(QApplication::widgetAt(QCursor::pos()));
    showTopic(topic ? topic->id : helpTopics().front().id);
}

/// Too long a list for a message box: it scrolls.
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
                     "Alt+1 to Alt+9 keep the view, 1 to 9 go back to it.</p><table>%1</table>")
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

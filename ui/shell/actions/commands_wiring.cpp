// SPDX-License-Identifier: GPL-3.0-or-later
// Connects the actions; commands.cpp implements them.
#include "ui/edit/edit_actions.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/body_pane.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/guide_panel.h"
#include "ui/panels/module_panel.h"
#include "ui/panels/property_panel.h"
#include "ui/panels/recipe/qconfig_editor.h"
#include "ui/panels/style_panel.h"
#include "ui/runs/run_library.h"
#include "ui/runs/runs_panel.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/search/finder.h"
#include "ui/session/workspace.h"
#include "ui/shell/actions/backend_actions.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/actions/find_actions.h"
#include "ui/shell/actions/graph_actions.h"
#include "ui/shell/actions/help_actions.h"
#include "ui/shell/actions/module_actions.h"
#include "ui/shell/actions/palette_actions.h"
#include "ui/shell/actions/selection_menu.h"
#include "ui/shell/actions/style_actions.h"
#include "ui/shell/actions/train_actions.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/dialogs/lowering_dialog.h"
#include "ui/shell/dialogs/metric_dialog.h"
#include "ui/shell/dialogs/pack_offer.h"
#include "ui/shell/dialogs/replacements_dialog.h"
#include "ui/shell/dialogs/save_graph.h"
#include "ui/shell/dialogs/save_report.h"
#include "ui/shell/dialogs/verify_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/node_data_files.h"
#include "ui/shell/project_files.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QSettings>
#include <QStatusBar>
#include <QTabWidget>

#include <algorithm>

namespace qs {

namespace {

const QString kCompareAfterEachKey = QStringLiteral("compareAfterEachDecision");

/// Lets Escape close only an open popup. As a shortcut of the window it would clear the selection
/// first.
class EscapeClosesPopups : public QObject
{
public:
    explicit EscapeClosesPopups(QObject* parent)
        : QObject(parent)
    {
        qApp->installEventFilter(this);
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::ShortcutOverride && QApplication::activePopupWidget()
            && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
            event->accept();
            return true;
        }
        return QObject::eventFilter(watched, event);
    }
};

template<class Handler>
void on(Actions& actions, ActionId id, QObject* owner, Handler handler)
{
    QObject::connect(&actions[id], &QAction::triggered, owner, handler);
}

/// Opens a dialog over the window; it deletes itself when closed.
template<class Dialog>
void openDialogOf(MainWindow& window)
{
    auto* dialog = new Dialog(window.workspace(), &window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

} // namespace

bool wantsComparisonAfterEach()
{
    return QSettings().value(kCompareAfterEachKey, true).toBool();
}

void Commands::connectFile()
{
    auto& a = m_window.actions();
    on(a, ActionId::Open, this, [this] { openDialog(); });
    on(a, ActionId::Reload, this, [this] { m_window.projects().reload(); });
    on(a, ActionId::OpenRecipe, this, [this] { openRecipe(); });
    on(a, ActionId::SaveProject, this, [this] { m_window.projects().save(); });
    on(a, ActionId::SaveProjectAs, this, [this] { m_window.projects().saveAs(); });
    on(a, ActionId::SaveRecipe, this, [this] { saveRecipe(); });
    on(a, ActionId::SaveReport, &m_window,
       [this] { saveReport(m_window.workspace(), m_window.messageBar()); });
    on(a, ActionId::SaveNodeData, &m_window,
       [this] { saveNodeData(m_window.workspace().document(), m_window.messageBar()); });
    on(a, ActionId::ImportNodeData, &m_window, [this] {
        importNodeData(m_window.workspace(), m_window.graphPane(), m_window.messageBar());
    });
    on(a, ActionId::SaveGraph, &m_window, [this] {
        saveGraph(m_window.graphPane().view().graphScene().canvas(), m_window.messageBar());
    });
    on(a, ActionId::SavePicture, this, [this] { savePicture(); });
    on(a, ActionId::Quit, &m_window, [this] { m_window.close(); });
}

void Commands::connectEdit()
{
    auto& a = m_window.actions();
    auto& undo = m_window.workspace().undoStack();
    on(a, ActionId::Undo, &undo, [&undo] { undo.undo(); });
    on(a, ActionId::Redo, &undo, [&undo] { undo.redo(); });
    const auto refresh = [&a, &undo] {
        a[ActionId::Undo].setEnabled(undo.canUndo());
        a[ActionId::Redo].setEnabled(undo.canRedo());
        a[ActionId::Undo].setText(undo.canUndo() ? tr("&Undo: %1").arg(undo.undoText())
                                                 : tr("&Undo"));
        a[ActionId::Redo].setText(undo.canRedo() ? tr("&Redo: %1").arg(undo.redoText())
                                                 : tr("&Redo"));
    };
    connect(&undo, &QUndoStack::indexChanged, this, refresh);
    refresh();
    auto& field = m_window.pipelineBar().search();
    on(a, ActionId::Find, &field, [&field] {
        field.setFocus();
        field.selectAll();
    });
    on(a, ActionId::StyleFound, this, [this] {
        m_window.showTab("stylePanel");
        m_window.styles().addRule(m_window.finder().expression().trimmed());
    });
    new FindActions(a, m_window.workspace(), m_window.finder(), m_window.graphPane(),
                    m_window.messageBar(), this);
    on(a, ActionId::SelectAll, this, [this] {
        std::vector<NodeId> ops;
        for (const auto& node : m_window.workspace().document().model()->nodes())
            if (m_window.workspace().foldTree()->unitOf(node->id) >= 0
                && node->kind == NodeKind::Op)
                ops.push_back(node->id);
        m_window.workspace().selection().selectNodes(ops);
    });
    auto* edits = new EditActions(a, m_window.workspace(), m_window.graphEditor(),
                                  m_window.messageBar(), m_window, this);
    m_window.graphEditor().setShownForm([pane = QPointer<GraphPane>(&m_window.graphPane())] {
        return pane ? pane->form() : CodeForm::Float;
    });
    edits->takeDrags(m_window.graphPane().view());
    edits->takeDrags(m_window.graphPane().otherView());
    on(a, ActionId::SelectNone, this, [this] {
        auto& selection = m_window.workspace().selection();
        if (selection.edge())
            selection.setEdge({}); // back to the node
        else
            selection.clear();
    });
    on(a, ActionId::CopyName, this,
       [this] { QApplication::clipboard()->setText(selectedName(m_window.workspace())); });
    on(a, ActionId::NextEdge, this, [this] { stepEdge(m_window.workspace(), 1); });
    on(a, ActionId::PreviousEdge, this, [this] { stepEdge(m_window.workspace(), -1); });
    new EscapeClosesPopups(this);
}

void Commands::connectView()
{
    auto& a = m_window.actions();
    auto& graph = m_window.graphPane();
    on(a, ActionId::ZoomIn, &graph, [&graph] { graph.view().zoomBy(1.25); });
    on(a, ActionId::ZoomOut, &graph, [&graph] { graph.view().zoomBy(0.8); });
    on(a, ActionId::ZoomReset, &graph, [&graph] { graph.zoomReset(); });
    on(a, ActionId::Fit, &graph, [&graph] { graph.fit(); });
    on(a, ActionId::Reveal, &graph, [&graph] { graph.revealSelection(); });
    on(a, ActionId::Worst, this, [this] { selectWorst(1); });
    on(a, ActionId::Better, this, [this] { selectWorst(-1); });
    connect(new StyleActions(a.viewMenu(), this), &StyleActions::chosen, &m_window,
            &MainWindow::changeStyle);
}

void Commands::connectGraph()
{
    auto& a = m_window.actions();
    auto& graph = m_window.graphPane();
    auto& workspace = m_window.workspace();
    new GraphActions(a, workspace, graph, m_window.messageBar(), this);
    const auto trace = [&graph](GraphPane::Trace wanted) {
        graph.setTrace(graph.trace() == wanted ? GraphPane::Trace::None : wanted);
    };
    on(a, ActionId::TraceBefore, &graph, [trace] { trace(GraphPane::Trace::Before); });
    on(a, ActionId::TraceAfter, &graph, [trace] { trace(GraphPane::Trace::After); });
    const std::pair<ActionId, CodeForm> forms[] = {{ActionId::FormFloat, CodeForm::Float},
                                                   {ActionId::FormPrepared, CodeForm::Prepared},
                                                   {ActionId::FormReference, CodeForm::Reference},
                                                   {ActionId::FormLowered, CodeForm::Lowered}};
    for (const auto& [id, form] : forms)
        on(a, id, &graph, [&graph, form = form] { graph.showForm(form); });
    on(a, ActionId::SplitForms, &graph, [&graph] { graph.setSplit(!graph.isSplit()); });
    on(a, ActionId::LookInside, &graph,
       [&graph, &workspace] { graph.openBody(workspace.selection().nodes()); });
    on(a, ActionId::LookOutside, &graph, [&graph] {
        if (graph.body().isOpen())
            graph.body().up();
    });
    on(a, ActionId::NextNode, this, [this] { walk(true); });
    on(a, ActionId::PreviousNode, this, [this] { walk(false); });
    const auto showMenu = [this](int entry, const QPoint& at) {
        auto& workspace = m_window.workspace();
        const auto entries = workspace.selectedEntries();
        if (workspace.selection().edge()
            || std::find(entries.begin(), entries.end(), entry) == entries.end())
            workspace.selectEntry(entry);
        showSelectionMenu(m_window, at);
    };
    connect(&graph, &GraphPane::edgeMenuWanted, this,
            [this](const QPoint& at) { showSelectionMenu(m_window, at); });
    connect(&graph, &GraphPane::contextMenuWanted, this, showMenu);
    connect(&m_window.modulePanel(), &ModulePanel::contextMenuWanted, this, showMenu);
}

void Commands::connectRecipe()
{
    auto& a = m_window.actions();
    on(a, ActionId::Cycle, this, [this] { cyclePrecision(); });
    on(a, ActionId::KeepFloat, this, [this] { assignSelection(std::string()); });
    on(a, ActionId::ClearRule, this, [this] { assignSelection(std::nullopt); });
    on(a, ActionId::NewQConfig, this, [this] { newQConfig(); });
    on(a, ActionId::Backend, this, [this] { chooseBackend(); });
    on(a, ActionId::Lowering, this, [this] { openDialogOf<LoweringDialog>(m_window); });
    on(a, ActionId::Replacements, this, [this] { openDialogOf<ReplacementsDialog>(m_window); });
    on(a, ActionId::Packs, this, [this] { m_window.packs().openDialog(); });
    new ModuleActions(a, m_window.workspace(), this);
    auto* backend = new BackendActions(a, m_window.workspace(), m_window.projects(),
                                       m_window.messageBar(), m_window, this);
    connect(this, &Commands::newBackendWanted, backend, &BackendActions::startEmpty);
    connect(&m_window.propertyPanel(), &PropertyPanel::suggestionTaken, backend,
            &BackendActions::applySuggestion);
    connect(&m_window.propertyPanel().editor(), &QConfigEditor::newQConfigWanted, this,
            &Commands::newQConfig);
}

void Commands::connectRun()
{
    auto& a = m_window.actions();
    connect(&m_window.pipelineBar(), &PipelineBar::stageClicked, this, &Commands::stageClicked);
    connect(&m_window.pipelineBar(), &PipelineBar::cancelClicked, this,
            [this] { m_window.workspace().pipeline().cancel(); });
    const std::pair<ActionId, Stage> stages[] = {{ActionId::Plan, Stage::Plan},
                                                 {ActionId::Calibrate, Stage::Calibrate},
                                                 {ActionId::Convert, Stage::Convert},
                                                 {ActionId::Compare, Stage::Compare},
                                                 {ActionId::Export, Stage::Export}};
    for (const auto& [id, stage] : stages)
        on(a, id, this, [this, stage = stage] { stageClicked(stage); });
    auto* training = new TrainActions(a, m_window.workspace(), m_window.projects(),
                                      m_window.messageBar(), m_window, this);
    connect(&m_window.pipelineBar(), &PipelineBar::trainClicked, training, &TrainActions::open);
    auto& causes = m_window.workspace().causes();
    on(a, ActionId::FindCauses, this, [&causes] { causes.find(); });
    connect(&causes, &CauseFinder::refused, this, [this](const QString& why) {
        m_window.messageBar().showChoices(
            MessageBar::Kind::Note, QStringLiteral("causes"), tr("Find causes"), why, {},
            {{tr("Calibrate…"), {}, [this] { stageClicked(Stage::Calibrate); }}});
    });
    connect(&causes, &CauseFinder::failed, this, [this](const Error& error) {
        m_window.messageBar().showError(tr("Finding causes"), error);
    });
    on(a, ActionId::Metric, this, [this] { openDialogOf<MetricDialog>(m_window); });
    on(a, ActionId::RunAll, this, [this] { runAll(); });
    connect(&a[ActionId::CompareAfterEach], &QAction::toggled, this, [this](bool keeps) {
        QSettings().setValue(kCompareAfterEachKey, keeps);
        m_window.workspace().live().setComparesAfterEach(keeps);
    });
    on(a, ActionId::Verify, this, [this] { openDialogOf<VerifyDialog>(m_window); });
    const auto refresh = [this, &a] {
        a[ActionId::Verify].setEnabled(canVerify(m_window.workspace()));
        a[ActionId::SaveReport].setEnabled(canReport(m_window.workspace()));
    };
    const Document* document = &m_window.workspace().document();
    for (const auto changed :
         {&Document::modelChanged, &Document::recipeChanged, &Document::planChanged,
          &Document::resultsChanged, &Document::settingsChanged})
        connect(document, changed, this, refresh);
    refresh();
    on(a, ActionId::Cancel, this, [this] {
        m_window.workspace().pipeline().cancel();
        m_window.runs().cancel();
    });
    on(a, ActionId::KeepRun, this, [this] {
        m_window.showTab("runsPanel");
        if (auto* panel = m_window.bottomTabs().findChild<RunsPanel*>())
            panel->askToKeep();
    });
    on(a, ActionId::SwitchRun, this, [this] {
        if (!m_window.runs().showNext())
            m_window.statusBar()->showMessage(
                tr("No runs are side by side: select two to four under Runs"), 6000);
    });
    on(a, ActionId::LeaveRun, this, [this] { m_window.runs().showCurrent(); });
    Document* const settings = &m_window.workspace().document();
    on(a, ActionId::AgainstOriginal, this, [settings] {
        RunSettings now = settings->settings();
        now.againstOriginal = !now.againstOriginal;
        settings->setSettings(now);
    });
    on(a, ActionId::AllLocalTerms, this, [settings] {
        RunSettings now = settings->settings();
        now.allLocalTerms = !now.allLocalTerms;
        settings->setSettings(now);
    });
    const auto check = [settings, &a] {
        a[ActionId::AgainstOriginal].setChecked(settings->settings().againstOriginal);
        a[ActionId::AllLocalTerms].setChecked(settings->settings().allLocalTerms);
    };
    connect(settings, &Document::settingsChanged, this, check);
    check();
}

void Commands::connectWindow()
{
    auto& a = m_window.actions();
    for (const ActionId id : kPanelActions)
        connect(&a[id], &QAction::toggled, &m_window, &MainWindow::applyPanels);
    connect(&a[ActionId::FullScreen], &QAction::toggled, &m_window, [this](bool on) {
        m_window.setWindowState(on ? m_window.windowState() | Qt::WindowFullScreen
                                   : m_window.windowState() & ~Qt::WindowFullScreen);
    });
    const std::pair<ActionId, const char*> tabs[] = {{ActionId::ShowRecipe, "recipePanel"},
                                                     {ActionId::ShowCode, "codePanel"},
                                                     {ActionId::ShowFindings, "findingsPanel"},
                                                     {ActionId::ShowEdits, "editsPanel"},
                                                     {ActionId::ShowForms, "formsPanel"},
                                                     {ActionId::ShowStyles, "stylePanel"},
                                                     {ActionId::ShowRuns, "runsPanel"},
                                                     {ActionId::ShowCure, "curePage"},
                                                     {ActionId::ShowSensitivity, "sensitivityPage"},
                                                     {ActionId::ShowSamples, "samplesPage"}};
    for (const auto& [id, tab] : tabs)
        on(a, id, this, [this, tab = tab] { m_window.showTab(tab); });
    auto* help = new HelpActions(a, m_window.workspace(), m_window, this);
    m_window.addToLeft(&help->guide());
    auto* palette = new PaletteActions(a, m_window.workspace(), m_window.messageBar(),
                                       m_window.graphPane().view(), m_window, this);
    connect(palette, &PaletteActions::helpWanted, help, &HelpActions::showTopic);
}

} // namespace qs

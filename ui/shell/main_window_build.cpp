// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: construction and layout. main_window.cpp has its behaviour.
#include "ui/cure/cure_page.h"
#include "ui/cure/sensitivity_page.h"
#include "ui/edit/edits_panel.h"
#include "ui/edit/graph_editor.h"
#include "ui/frame/actions.h"
#include "ui/frame/focus_keeper.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/graph/view/saved_views.h"
#include "ui/panels/code_panel.h"
#include "ui/panels/findings_panel.h"
#include "ui/panels/forms_panel.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/metrics_panel.h"
#include "ui/panels/module_panel.h"
#include "ui/panels/property_panel.h"
#include "ui/panels/recipe/recipe_panel.h"
#include "ui/panels/result_strip.h"
#include "ui/panels/search_panel.h"
#include "ui/panels/style_panel.h"
#include "ui/panels/verdict_list.h"
#include "ui/plots/error_bar_plot.h"
#include "ui/plots/histogram_plot.h"
#include "ui/plots/side_plots.h"
#include "ui/runs/run_library.h"
#include "ui/runs/runs_panel.h"
#include "ui/samples/samples_page.h"
#include "ui/session/search/finder.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/advice.h"
#include "ui/shell/autosave.h"
#include "ui/shell/bars/fitted_scroll.h"
#include "ui/shell/bars/grouped_tabs.h"
#include "ui/shell/bars/panel_buttons.h"
#include "ui/shell/bars/panel_cycle.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/bars/status_line.h"
#include "ui/shell/empty_state.h"
#include "ui/shell/focus_ring.h"
#include "ui/shell/main_window.h"
#include "ui/shell/project_files.h"
#include "ui/style/layout_barrier.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"
#include "ui/values/channel_plot.h"
#include "ui/values/values_page.h"

#include <QMenuBar>
#include <QScreen>
#include <QScrollArea>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>

namespace qs {

namespace {

/// Time for the window manager to add the frame.
constexpr int kFrameMs = 200;
/// Minimum share of the window's height for the graph's view without controls. With them it has
/// half.
constexpr double kLeastGraph = 0.45;
/// Minimum useful height of a page below the graph.
constexpr double kLeastPage = 80;

QFrame* line(QWidget* parent)
{
    auto* out = new QFrame(parent);
    out->setFixedHeight(1);
    out->setStyleSheet(QStringLiteral("background: %1;").arg(theme().border.name()));
    return out;
}

/// Returns the minimum width of a side panel, limited to a share of the screen for large text.
int leastWidth(const QWidget& window, double atNormalSize, double share)
{
    return std::min(px(atNormalSize), int(window.screen()->availableSize().width() * share));
}

/// The Samples page; a chosen sample is also shown on the Values page.
SamplesPage* samplesPage(Workspace& workspace, Actions& actions, ValuesPage& values,
                         QWidget* parent)
{
    auto* page = new SamplesPage(workspace, parent);
    QObject::connect(page, &SamplesPage::calibrateWanted, &actions[ActionId::Calibrate],
                     &QAction::trigger);
    QObject::connect(page, &SamplesPage::compareWanted, &actions[ActionId::Compare],
                     &QAction::trigger);
    QObject::connect(page, &SamplesPage::sampleChosen, &values, &ValuesPage::showSample);
    return page;
}

} // namespace

void MainWindow::build()
{
    m_actions = new Actions(*this);
    m_pipelineBar = new PipelineBar(m_workspace, this);
    m_messages = new MessageBar(this);
    m_messages->setWording(
        [this](const QString& text) { return m_workspace.facts().titled(text); });
    m_graph = new GraphPane(m_workspace, this);
    m_empty = new EmptyState(this);
    m_stack = new QStackedWidget(this);
    m_modules = new ModulePanel(m_workspace, this);
    m_verdicts = new VerdictList(m_workspace, this);
    m_properties = new PropertyPanel(m_workspace, this);
    m_finder = new Finder(m_workspace, this);
    m_corner = new QWidget(this);
    auto* corner = makeHBox(m_corner, {0, 0, 8, 0});
    m_cornerTitle = new ElidedLabel(QString(), uiFont(12), m_corner);
    m_cornerTitle->setObjectName(QStringLiteral("cornerTitle"));
    m_cornerTitle->setStyleSheet(
        QStringLiteral("color: %1; padding: 0 8px;").arg(theme().muted.name()));
    m_cornerTitle->setMinimumHeight(px(28));
    addItems(*corner, {{m_cornerTitle, 1}, new PanelButtons(*m_actions, m_corner)});
    menuBar()->setCornerWidget(m_corner);

    auto* centre = new QWidget(this);
    auto* column = makeVBox(centre, {}, 0);
    addItems(*column, {line(centre), m_pipelineBar, line(centre)});
    m_results = new ResultStrip(m_workspace, centre);
    addItems(*column, {m_results, m_messages, {buildCentre(), 1}});
    setCentralWidget(centre);
    auto* status = new StatusLine(m_workspace, *statusBar());
    connect(status, &StatusLine::warningsClicked, this, [this] { showTab("findingsPanel"); });
    auto& field = m_pipelineBar->search();
    auto* found = new SearchPanel(m_workspace, *m_finder, field, centre);
    found->keepClearOf(*m_properties);
    connect(found, &SearchPanel::revealWanted, m_graph, &GraphPane::revealSelection);
    connect(found, &SearchPanel::left, &m_graph->view(), qOverload<>(&QWidget::setFocus));
    m_commands = new Commands(*this);
    new Advice(m_workspace, *m_messages, this);
    m_views = new SavedViews(m_workspace, *m_graph, this);
    connect(m_views, &SavedViews::told, this,
            [this](const QString& text) { statusBar()->showMessage(text, 4000); });
    const auto part = [](const QWidget* panel, const char* name) {
        return panel->findChild<QWidget*>(QString::fromLatin1(name));
    };
    new PanelCycle(
        *m_actions,
        {{m_pipelineBar, {part(m_pipelineBar, "stageOpen")}},
         {m_empty, {part(m_empty, "emptyOpen")}},
         {m_left, {&m_modules->tree()}},
         {m_graph, {&m_graph->view()}},
         {m_bottom, {m_bottom->tabBar()}},
         {m_properties, {part(m_properties, "qconfigBox"), part(m_properties, "propertyScroll")}}},
        this);
    new FocusRing(this);
    new FocusKeeper(this, &m_graph->view());
    wireViews();
    m_actions->setModelOpen(m_workspace.document().model() != nullptr);
    refreshTitle();
    applyPanels();
}

void MainWindow::tearDown()
{
    setLogSink({});
    for (QObject* watched : {m_bottom->parent(), static_cast<QObject*>(&m_graph->view())})
        watched->removeEventFilter(this); // they still resize while being destroyed
    delete std::exchange(m_styles, nullptr); // commits an open editor
    QList<QPointer<QObject>> parts;
    for (QObject* child : children())
        if (child != layout() && child != m_projects)
            parts << child;
    // Controllers are destroyed before the views.
    for (const bool widgets : {false, true})
        for (const auto& part : parts)
            if (part && part->isWidgetType() == widgets)
                delete part;
}

QWidget* MainWindow::buildLeft(QWidget* parent)
{
    m_left = new QWidget(parent);
    auto* column = makeVBox(m_left, {}, 0);
    addItems(*column, {{m_modules, 1}, line(m_left)});
    auto* below = new FittedScroll(m_left);
    auto* contents = new QWidget(below);
    contents->setObjectName(QStringLiteral("panel"));
    m_leftColumn = makeVBox(contents, {}, 0);
    m_leftColumn->addWidget(m_verdicts);
    below->setWidget(contents);
    column->addWidget(below);
    m_modules->setMinimumHeight(px(110));
    m_left->setMinimumWidth(leastWidth(*this, 190, 0.17));
    return m_left;
}

QWidget* MainWindow::buildCentre()
{
    auto* all = makeSplitter("panes", Qt::Horizontal, this);
    buildLeft(all);
    auto* start = new QScrollArea(m_stack);
    start->setWidgetResizable(true);
    start->setFrameShape(QFrame::NoFrame);
    start->setFocusPolicy(Qt::NoFocus);
    start->setWidget(m_empty);
    m_stack->addWidget(start);
    m_stack->addWidget(m_graph);
    auto* middle = makeSplitter("middle", Qt::Vertical, all);
    middle->addWidget(m_stack);
    middle->addWidget(buildBottom());
    middle->setStretchFactor(0, 5);
    middle->setStretchFactor(1, 3);
    middle->setSizes({560, 330});
    connect(middle, &QSplitter::splitterMoved, this, [this] { m_sharesHeight = false; });
    middle->installEventFilter(this);
    m_graph->view().installEventFilter(this); // its controls may change their height

    all->addWidget(m_left);
    all->addWidget(middle);
    all->addWidget(m_properties);
    all->setStretchFactor(0, 0);
    all->setStretchFactor(1, 1);
    all->setStretchFactor(2, 0);
    all->setSizes({px(300), 960, px(340)});
    m_properties->setMinimumWidth(leastWidth(*this, 230, 0.2));
    return all;
}

QSize MainWindow::firstSize(const QSize& available, const QMargins& frame)
{
    return QSize(1600, 1000).boundedTo(available.shrunkBy(frame));
}

void MainWindow::showEvent(QShowEvent* event)
{
    QMainWindow::showEvent(event);
    // The frame is known only after the window manager has added it.
    QTimer::singleShot(kFrameMs, this, [this] {
        const QSize first = std::exchange(m_firstSize, QSize());
        const QRect available = screen()->availableGeometry();
        if (size() != first || available.contains(frameGeometry()))
            return;
        const QSize frame = frameGeometry().size() - size();
        resize(firstSize(available.size(), {0, 0, frame.width(), frame.height()}));
        move(available.topLeft());
    });
}

void MainWindow::shareHeight()
{
    auto* middle = qobject_cast<QSplitter*>(m_bottom->parentWidget());
    if (!middle || !m_sharesHeight || m_bottom->isHidden() || m_graph->isHidden())
        return;
    const int all = middle->height();
    const int controls = m_graph->height() - m_graph->view().height();
    const int graph
        = 2 + std::max({all * 5 / 8, height() / 2, int(height() * kLeastGraph) + controls});
    const int tabs = m_bottom->minimumHeight();
    const int below = all - graph < tabs + px(kLeastPage) ? tabs : all - graph;
    middle->setSizes({all - below, below});
}

void MainWindow::openBottom()
{
    auto* middle = qobject_cast<QSplitter*>(m_bottom->parentWidget());
    if (!middle || m_bottom->height() >= m_bottom->minimumHeight() + px(kLeastPage))
        return;
    m_sharesHeight = false;
    const int below
        = std::max(m_bottom->minimumHeight() + px(kLeastPage), middle->height() * 2 / 5);
    middle->setSizes({middle->height() - below, below});
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        shareHeight();
    return QMainWindow::eventFilter(watched, event);
}

QWidget* MainWindow::buildBottom()
{
    m_bottom = new GroupedTabs(this);
    m_bottom->setObjectName(QStringLiteral("bottomTabs"));
    m_bottom->setDocumentMode(true);
    m_bottom->tabBar()->setFont(uiFont(12, 600));
    m_bottom->tabBar()->setDrawBase(false);
    auto* plots = makeSplitter("plots", Qt::Horizontal, m_bottom);
    plots->addWidget(new LayoutBarrier(new HistogramPlot(m_workspace, plots), plots));
    auto* beside = new SidePlots(m_workspace, plots);
    m_errors = &beside->errors();
    plots->addWidget(beside);
    plots->setSizes({480, 480});
    const auto reveal = [this] { m_graph->revealSelection(); };
    auto* metrics = new MetricsPanel(m_workspace, m_bottom);
    connect(metrics, &MetricsPanel::revealWanted, this, reveal);
    auto* forms = new FormsPanel(m_workspace, m_bottom);
    connect(forms, &FormsPanel::revealWanted, this, reveal);
    auto* edits = new EditsPanel(m_workspace, *m_editor, m_bottom);
    connect(edits, &EditsPanel::revealWanted, this, reveal);
    connect(edits, &EditsPanel::saveWanted, &(*m_actions)[ActionId::SaveEdited], &QAction::trigger);
    connect(edits, &EditsPanel::againstWanted, &(*m_actions)[ActionId::AgainstOriginal],
            &QAction::trigger);
    connect(edits, &EditsPanel::countChanged, this,
            [this, edits](int count) { m_bottom->setCount(edits, count); });
    auto* runs = new RunsPanel(m_workspace, *m_runs, m_bottom);
    connect(runs, &RunsPanel::revealWanted, this, reveal);
    connect(
        m_runs, &RunLibrary::failed, m_messages,
        [this](const QString& what, const Error& error) { m_messages->showError(what, error); });
    auto* cure = new CurePage(m_workspace, m_bottom);
    auto* sensitivity = new SensitivityPage(m_workspace, m_bottom);
    const auto wireCure = [this, reveal](auto* page) {
        using Page = std::remove_pointer_t<decltype(page)>;
        QAction& calibrate = (*m_actions)[ActionId::Calibrate];
        QAction& find = (*m_actions)[ActionId::FindCauses];
        connect(page, &Page::revealWanted, this, reveal);
        connect(page, &Page::calibrateWanted, &calibrate, &QAction::trigger);
        connect(page, &Page::findWanted, &find, &QAction::trigger);
    };
    wireCure(cure);
    wireCure(sensitivity);
    auto* values = new ValuesPage(m_workspace, m_bottom);
    m_findings = new FindingsPanel(m_workspace, m_bottom);
    m_styles = new StylePanel(m_workspace, m_bottom);
    m_log = new LogPanel(m_bottom);
    m_bottom->beginGroup(tr("Loss"));
    m_bottom->addPage(plots, tr("Plots"));
    m_bottom->addPage(metrics, tr("Table"));
    m_bottom->addPage(forms, tr("Kernels"));
    m_bottom->beginGroup(tr("Cure"));
    m_bottom->addPage(cure, tr("Cure"));
    m_bottom->addPage(sensitivity, tr("Sensitivity"));
    m_bottom->beginGroup(tr("Values"));
    m_bottom->addPage(values, tr("Values"));
    m_bottom->addPage(new ChannelPlot(m_workspace, m_bottom), tr("Channels"));
    m_bottom->addPage(samplesPage(m_workspace, *m_actions, *values, m_bottom), tr("Samples"));
    m_bottom->beginGroup(tr("Model"));
    m_bottom->addPage(new CodePanel(m_workspace, m_bottom), tr("Code"));
    m_bottom->addPage(edits, tr("Edits"));
    m_bottom->addPage(m_styles, tr("Styles"));
    m_bottom->beginGroup(tr("Recipe"));
    m_bottom->addPage(new RecipePanel(m_workspace, m_bottom), tr("Recipe"));
    m_bottom->addPage(m_findings, tr("Findings"));
    m_bottom->beginGroup(tr("History"));
    m_bottom->addPage(runs, tr("Runs"));
    m_bottom->addPage(m_log, tr("Log"));
    connect(m_findings, &FindingsPanel::countChanged, this,
            [this](int count) { m_bottom->setCount(m_findings, count); });
    connect(m_findings, &FindingsPanel::revealWanted, this, [this] { m_graph->revealSelection(); });
    m_bottom->setMinimumSize(px(240), m_bottom->tabBar()->sizeHint().height());
    connect(m_bottom, &QTabWidget::tabBarClicked, this, [this] { openBottom(); });
    setLogSink([panel = QPointer<LogPanel>(m_log)](LogLevel level, const std::string& text) {
        if (panel)
            panel->add(level, QString::fromStdString(text));
    });
    return m_bottom;
}

/// Connects the objects that `build` makes; the connections end with them.
void MainWindow::wireViews()
{
    connect(m_messages, &MessageBar::nodeClicked, m_graph, &GraphPane::revealNamed);
    connect(m_graph, &GraphPane::notFound, this, [this](const QString& name) {
        statusBar()->showMessage(
            tr("No form of the model has a node %1: it exists only during conversion").arg(name),
            8000);
    });
    connect(m_modules, &ModulePanel::revealWanted, m_graph, &GraphPane::revealSelection);
    connect(m_modules, &ModulePanel::boxToggled, m_graph, &GraphPane::setBoxOpen);
    connect(m_graph, &GraphPane::boxesChanged, m_modules, [this](const FoldTreePtr& grouped) {
        m_modules->showBoxes(grouped, m_graph->expanded());
    });
    connect(m_results, &ResultStrip::revealWanted, m_graph, &GraphPane::revealSelection);
    // Queued: messages about the previous model are removed first.
    connect(
        &m_workspace.pipeline(), &Pipeline::succeeded, m_messages,
        [this](Stage stage) {
            if (stage == Stage::Open)
                m_autosave->offer(*m_messages);
        },
        Qt::QueuedConnection);
    connect(m_empty, &EmptyState::openWanted, &(*m_actions)[ActionId::Open], &QAction::trigger);
    connect(m_empty, &EmptyState::fileWanted, this,
            [this](const QString& path) { openModel(path); });
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include "engine/base/text.h"
#include "engine/project/project.h"
#include "ui/graph/graph_pane.h"
#include "ui/graph/kept_views.h"
#include "ui/panels/code_panel.h"
#include "ui/panels/findings_panel.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/module_panel.h"
#include "ui/panels/property_panel.h"
#include "ui/panels/recipe_panel.h"
#include "ui/panels/style_panel.h"
#include "ui/panels/verdict_list.h"
#include "ui/plots/channel_plot.h"
#include "ui/plots/error_bar_plot.h"
#include "ui/plots/histogram_plot.h"
#include "ui/session/finder.h"
#include "ui/session/text.h"
#include "ui/shell/actions.h"
#include "ui/shell/advice.h"
#include "ui/shell/commands.h"
#include "ui/shell/empty_state.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/node_data_files.h"
#include "ui/shell/pipeline_bar.h"
#include "ui/shell/status_line.h"
#include "ui/shell/theme.h"
#include "ui/shell/window_state.h"

#include <QDragEnterEvent>
#include <QLabel>
#include <QMenuBar>
#include <QMimeData>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

namespace qs {

namespace {

QFrame* line(QWidget* parent)
{
    auto* out = new QFrame(parent);
    out->setFixedHeight(1);
    out->setStyleSheet(QStringLiteral("background: %1;").arg(theme().border.name()));
    return out;
}

QSplitter* splitter(Qt::Orientation orientation, QWidget* parent)
{
    auto* out = new QSplitter(orientation, parent);
    out->setHandleWidth(1);
    out->setChildrenCollapsible(false);
    return out;
}

} // namespace

MainWindow::MainWindow(EngineService& engine, QWidget* parent)
    : QMainWindow(parent)
    , m_workspace(engine)
    , m_actions(new Actions(*this))
    , m_pipelineBar(new PipelineBar(m_workspace, this))
    , m_messages(new MessageBar(this))
    , m_graph(new GraphPane(m_workspace, this))
    , m_empty(new EmptyState(this))
    , m_stack(new QStackedWidget(this))
    , m_modules(new ModulePanel(m_workspace, this))
    , m_verdicts(new VerdictList(m_workspace, this))
    , m_properties(new PropertyPanel(m_workspace, this))
    , m_finder(new Finder(m_workspace, this))
    , m_cornerTitle(new QLabel(this))
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    resize(1600, 1000);
    m_cornerTitle->setStyleSheet(
        QStringLiteral("color: %1; padding: 0 16px;").arg(theme().muted.name()));
    m_cornerTitle->setFont(uiFont(12));
    m_cornerTitle->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_cornerTitle->setMinimumHeight(28);
    menuBar()->setCornerWidget(m_cornerTitle);

    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(line(centre));
    column->addWidget(m_pipelineBar);
    column->addWidget(line(centre));
    column->addWidget(m_messages);
    column->addWidget(buildCentre(), 1);
    setCentralWidget(centre);
    auto* status = new StatusLine(m_workspace, *statusBar());
    connect(status, &StatusLine::warningsClicked, this, [this] { showTab("findingsPanel"); });
    m_commands = new Commands(*this);
    new Advice(m_workspace, *m_messages, this);
    auto* views = new KeptViews(m_workspace, *m_graph, this);
    connect(views, &KeptViews::told, this,
            [this](const QString& text) { statusBar()->showMessage(text, 4000); });
    wire();
    refreshTitle();
    applyPanels();
}

MainWindow::~MainWindow()
{
    // The log panel goes before the engine's last words.
    setLogSink({});
    // An editor that is still open hands its text over when it goes: while the rules are there.
    delete m_styles;
}

QWidget* MainWindow::buildCentre()
{
    auto* all = splitter(Qt::Horizontal, this);
    m_left = new QWidget(all);
    auto* left = new QVBoxLayout(m_left);
    left->setContentsMargins(0, 0, 0, 0);
    left->setSpacing(0);
    left->addWidget(m_modules, 1);
    left->addWidget(line(m_left));
    left->addWidget(m_verdicts);

    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_graph);
    auto* middle = splitter(Qt::Vertical, all);
    middle->addWidget(m_stack);
    middle->addWidget(buildBottom());
    middle->setStretchFactor(0, 5);
    middle->setStretchFactor(1, 3);
    middle->setSizes({560, 330});

    all->addWidget(m_left);
    all->addWidget(middle);
    all->addWidget(m_properties);
    all->setStretchFactor(0, 0);
    all->setStretchFactor(1, 1);
    all->setStretchFactor(2, 0);
    all->setSizes({300, 960, 340});
    m_left->setMinimumWidth(276);
    m_properties->setMinimumWidth(292);
    return all;
}

QWidget* MainWindow::buildBottom()
{
    m_bottom = new QTabWidget(this);
    m_bottom->setObjectName(QStringLiteral("bottomTabs"));
    m_bottom->setDocumentMode(true);
    m_bottom->tabBar()->setFont(uiFont(12, 600));
    m_bottom->tabBar()->setDrawBase(false);
    auto* plots = splitter(Qt::Horizontal, m_bottom);
    plots->addWidget(new HistogramPlot(m_workspace, plots));
    m_errors = new ErrorBarPlot(m_workspace, plots);
    plots->addWidget(m_errors);
    plots->setSizes({480, 480});
    m_log = new LogPanel(m_bottom);
    m_bottom->addTab(plots, QStringLiteral("Histogram and errors"));
    m_bottom->addTab(new ChannelPlot(m_workspace, m_bottom), QStringLiteral("Channels"));
    m_bottom->addTab(new CodePanel(m_workspace, m_bottom), QStringLiteral("Code"));
    m_bottom->addTab(new RecipePanel(m_workspace, m_bottom), QStringLiteral("Recipe"));
    m_findings = new FindingsPanel(m_workspace, m_bottom);
    m_bottom->addTab(m_findings, QStringLiteral("Findings"));
    m_styles = new StylePanel(m_workspace, m_bottom);
    m_bottom->addTab(m_styles, QStringLiteral("Styles"));
    m_bottom->addTab(m_log, QStringLiteral("Log"));
    connect(m_findings, &FindingsPanel::countChanged, this, &MainWindow::showFindingsCount);
    connect(m_findings, &FindingsPanel::revealWanted, this, [this] { m_graph->revealSelection(); });
    m_bottom->setMinimumHeight(170);
    setLogSink([panel = QPointer<LogPanel>(m_log)](LogLevel level, const std::string& text) {
        if (panel)
            panel->add(level, QString::fromStdString(text));
    });
    return m_bottom;
}

void MainWindow::showFindingsCount(int count)
{
    const int tab = m_bottom->indexOf(m_findings);
    m_bottom->setTabText(
        tab, count > 0 ? QStringLiteral("Findings (%1)").arg(count) : QStringLiteral("Findings"));
}

void MainWindow::addToLeft(QWidget* widget)
{
    m_left->layout()->addWidget(widget);
}

void MainWindow::showTab(const char* objectName)
{
    (*m_actions)["showBottom"].setChecked(true);
    if (auto* tab = m_bottom->findChild<QWidget*>(QString::fromLatin1(objectName))) {
        m_bottom->setCurrentWidget(tab);
        tab->setFocus();
    }
}

void MainWindow::wire()
{
    auto& document = m_workspace.document();
    auto& pipeline = m_workspace.pipeline();
    connect(&document, &Document::modelChanged, this, [this] {
        m_messages->dismiss();
        m_actions->setModelOpen(m_workspace.document().model() != nullptr);
        applyPanels();
        refreshTitle();
    });
    connect(&document, &Document::recipeChanged, this, &MainWindow::refreshTitle);
    connect(&document, &Document::planChanged, this, [this] {
        if (const auto& plan = m_workspace.document().plan())
            for (const auto& warning : plan->warnings)
                m_log->add(LogLevel::Warning, QString::fromStdString(warning));
    });
    connect(&pipeline, &Pipeline::failed, this, &MainWindow::onFailure);
    connect(&pipeline, &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage != Stage::Plan)
            m_messages->dismiss();
        showFirst(stage);
        if (const auto& done = m_workspace.document().exported(); stage == Stage::Export)
            statusBar()->showMessage(
                toQString(counted(done.files.size(), "file") + " written to " + done.folder), 8000);
    });
    connect(m_messages, &MessageBar::nodeClicked, this, [this](const QString& name) {
        const auto& model = m_workspace.document().model();
        if (const Node* node = model ? model->tryFind(name.toStdString()) : nullptr) {
            m_workspace.selectNode(node->id);
            m_graph->revealSelection();
        }
    });
    connect(m_modules, &ModulePanel::revealWanted, m_graph, &GraphPane::revealSelection);
    connect(m_empty, &EmptyState::openWanted, &(*m_actions)["open"], &QAction::trigger);
    connect(m_empty, &EmptyState::fileWanted, this,
            [this](const QString& path) { openModel(path); });
}

void MainWindow::showFirst(Stage stage)
{
    auto& selection = m_workspace.selection();
    if (stage == Stage::Plan && selection.isEmpty()) {
        m_workspace.selectEntry(FoldTree::kRoot);
        m_graph->view().setFocus();
    }
    const auto& comparison = m_workspace.document().comparison();
    if (stage != Stage::Compare || !comparison || !(selection.isEmpty() || selection.isModule()))
        return;
    // The first question after a comparison is where the most is lost.
    const NodeError* worst = nullptr;
    for (const auto& error : comparison->nodes)
        if (error.bornHere && error.bornHere->sqnrDb
            && (!worst || *error.bornHere->sqnrDb < *worst->bornHere->sqnrDb))
            worst = &error;
    if (worst) {
        m_workspace.selectNode(worst->node);
        m_graph->revealSelection();
    }
}

void MainWindow::openModel(const QString& path, const Recipe& recipe)
{
    m_messages->dismiss();
    m_projectData.clear();
    if (!looksLikeProject(path.toStdString())) {
        m_workspace.pipeline().open(path, recipe);
        return;
    }
    const auto project = readProject(path.toStdString());
    if (!project) {
        Q_EMIT m_workspace.pipeline().failed(Stage::Open, project.error());
        return;
    }
    m_projectData = QString::fromStdString(project->dataPath);
    applyWindowState(*this, QByteArray::fromStdString(project->windowState));
    m_workspace.pipeline().open(QString::fromStdString(project->modelPath), project->recipe);
}

void MainWindow::applyPanels()
{
    const bool open = m_workspace.document().model() != nullptr;
    m_stack->setCurrentWidget(open ? static_cast<QWidget*>(m_graph) : m_empty);
    m_left->setVisible(open && (*m_actions)["showModules"].isChecked());
    m_properties->setVisible(open && (*m_actions)["showProperties"].isChecked());
    m_bottom->setVisible(open && (*m_actions)["showBottom"].isChecked());
}

void MainWindow::refreshTitle()
{
    const auto& document = m_workspace.document();
    if (!document.model()) {
        setWindowTitle(QStringLiteral("Quantscope"));
        m_cornerTitle->clear();
        return;
    }
    const bool changed = !m_workspace.undoStack().isClean();
    const QString title
        = QStringLiteral("%1 · recipe %2%3")
              .arg(document.title(), QString::fromStdString(document.recipe().backend),
                   changed ? QStringLiteral("*") : QString());
    m_cornerTitle->setText(title);
    menuBar()->setCornerWidget(m_cornerTitle);
    m_cornerTitle->show();
    setWindowTitle(title + QStringLiteral(" — Quantscope"));
}

void MainWindow::onFailure(Stage stage, const Error& error)
{
    if (error.code == ErrorCode::Cancelled) {
        // A calibration says how far it came and that it keeps what it saw.
        const QString after = error.hint.empty()
            ? QString()
            : QStringLiteral("; start it again to go on from there");
        statusBar()->showMessage(
            QStringLiteral("%1 %2").arg(stageName(stage), toQString(error.message)) + after, 8000);
        return;
    }
    m_messages->showError(stageName(stage), error);
    m_log->add(LogLevel::Warning, QString::fromStdString(error.line()));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!event->mimeData()->hasUrls())
        return;
    event->acceptProposedAction();
    m_empty->setDropping(true);
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*)
{
    m_empty->setDropping(false);
}

void MainWindow::dropEvent(QDropEvent* event)
{
    m_empty->setDropping(false);
    const auto urls = event->mimeData()->urls();
    if (urls.isEmpty() || !urls.front().isLocalFile())
        return;
    const QString path = urls.front().toLocalFile();
    if (path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive)
        && !looksLikeProject(path.toStdString()))
        importNodeData(*this, path);
    else
        openModel(path);
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/main_window.h"

#include "engine/base/text.h"
#include "engine/project/project.h"
#include "ui/edit/graph_editor.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/findings_panel.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/property_panel.h"
#include "ui/panels/result_strip.h"
#include "ui/panels/style_panel.h"
#include "ui/runs/run_library.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/search/finder.h"
#include "ui/session/text.h"
#include "ui/session/worst_nodes.h"
#include "ui/shell/autosave.h"
#include "ui/shell/bars/grouped_tabs.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/dialogs/pack_offer.h"
#include "ui/shell/dialogs/packs_dialog.h"
#include "ui/shell/empty_state.h"
#include "ui/shell/node_data_files.h"
#include "ui/shell/project_files.h"
#include "ui/shell/window_state.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QScreen>
#include <QStackedWidget>
#include <QStatusBar>
#include <QStyle>
#include <QVBoxLayout>

namespace qs {

namespace {

/// Returns the topic of messages about a failed stage.
QString failureTopic(Stage stage)
{
    return QStringLiteral("failed") + stageName(stage);
}

/// Returns "~/models" for a folder below the home folder.
QString inHome(const QString& folder)
{
    const QString home = QDir::homePath();
    return folder == home || folder.startsWith(home + QLatin1Char('/'))
        ? QLatin1Char('~') + folder.mid(home.size())
        : folder;
}

} // namespace

MainWindow::MainWindow(EngineService& engine, QWidget* parent)
    : QMainWindow(parent)
    , m_workspace(engine)
    , m_editor(new GraphEditor(m_workspace, &m_workspace)) // outlives the views
{
    setObjectName(QStringLiteral("mainWindow"));
    setAcceptDrops(true);
    m_projects = new ProjectFiles(*this);
    m_autosave = new Autosave(m_workspace, *m_projects, m_projects); // outlives the views
    m_runs = new RunLibrary(m_workspace, *m_projects, m_projects); // likewise
    m_packs = new PackOffer(*this, m_projects); // likewise
    build();
    wireWorkspace();
    m_firstSize = firstSize(screen()->availableSize(),
                            {0, style()->pixelMetric(QStyle::PM_TitleBarHeight), 0, 0});
    resize(m_firstSize);
}

MainWindow::~MainWindow()
{
    // The engine may still log after the log panel is destroyed.
    setLogSink({});
    // An open editor commits its text when destroyed: while the rules still exist.
    delete m_styles;
}

void MainWindow::changeStyle(const WindowStyle& style)
{
    saveStyle(style);
    // Later: the menu that triggered it is destroyed too.
    QMetaObject::invokeMethod(
        this,
        [this, style] {
            if (style != styleInUse())
                applyStyle(*qApp, style);
            remake();
        },
        Qt::QueuedConnection);
}

void MainWindow::remake()
{
    const auto views = viewStateOf(*this);
    const auto graph = m_graph->state();
    const auto results = m_results->history();
    const int tab = m_bottom->currentIndex();
    const QString log = m_log->toPlainText(), search = m_finder->expression();
    setUpdatesEnabled(false);
    tearDown();
    build();
    applyViewState(*this, views);
    m_graph->setState(graph);
    m_results->setHistory(results);
    m_bottom->setCurrentIndex(tab);
    if (!log.isEmpty())
        m_log->appendPlainText(log);
    if (!search.isEmpty())
        m_pipelineBar->search().setText(search);
    setUpdatesEnabled(true);
    m_graph->view().setFocus();
}

QTabWidget& MainWindow::bottomTabs()
{
    return *m_bottom;
}

void MainWindow::addToLeft(QWidget* widget)
{
    m_leftColumn->addWidget(widget);
}

void MainWindow::showTab(const char* objectName)
{
    (*m_actions)[ActionId::ShowBottom].setChecked(true);
    if (auto* tab = m_bottom->findChild<QWidget*>(QString::fromLatin1(objectName))) {
        openBottom();
        m_bottom->setCurrentWidget(tab);
        tab->setFocus();
    }
}

void MainWindow::wireWorkspace()
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
    tellPacksThatStay(m_workspace, *statusBar());
    connect(&document, &Document::savedChanged, this, &MainWindow::refreshTitle);
    connect(&document, &Document::planChanged, this, [this] {
        if (const auto& plan = m_workspace.document().plan())
            for (const auto& warning : plan->warnings)
                m_log->add(LogLevel::Warning, QString::fromStdString(warning));
    });
    connect(&pipeline, &Pipeline::failed, this, &MainWindow::onFailure);
    // Messages about the previous run no longer apply.
    connect(&pipeline, &Pipeline::started, this, [this] {
        for (int stage = 0; stage < kStageCount; ++stage)
            m_messages->dismissTopic(failureTopic(Stage(stage)));
        if (statusBar()->currentMessage() == m_cancelled)
            statusBar()->clearMessage();
    });
    connect(&pipeline, &Pipeline::succeeded, this, [this](Stage stage) {
        if (stage != Stage::Plan)
            m_messages->dismiss();
        else {
            m_messages->dismissTopic(kPacksTopic);
            m_messages->dismissTopic(failureTopic(stage));
        }
        showFirst(stage);
        if (stage == Stage::Export)
            offerToVerify();
    });
}

void MainWindow::offerToVerify()
{
    const ExportReport& done = m_workspace.document().exported();
    const QString written = tr("%1 written to %2")
                                .arg(toQString(counted(std::int64_t(done.files.size()), "file")),
                                     toQString(done.folder));
    statusBar()->showMessage(written, 8000);
    QString detail;
    for (const std::string& note : done.notes) {
        m_log->add(LogLevel::Note, toQString(note));
        detail += toQString(note) + QStringLiteral(". ");
    }
    QAction& verify = (*m_actions)[ActionId::Verify];
    if (verify.isEnabled())
        m_messages->showChoices(MessageBar::Kind::Note, QStringLiteral("export"), written,
                                detail + tr("Verify runs the files in their runtimes"), {},
                                {{verify.text().remove(QLatin1Char('&')), verify.toolTip(),
                                  [&verify] { verify.trigger(); }}});
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
    // After a comparison, show the node with the greatest loss.
    const auto order = worstFirst(*comparison, m_workspace.facts());
    if (!order.empty()) {
        m_workspace.selectNode(order.front());
        m_graph->revealSelection();
    }
}

void MainWindow::openModel(const QString& path, const Recipe& recipe)
{
    m_messages->dismiss();
    m_packs->noteOpening(path, recipe);
    m_projects->open(path, recipe);
}

void MainWindow::changeEvent(QEvent* event)
{
    // Another program may have written to the data or the backend meanwhile.
    if (event->type() == QEvent::ActivationChange && isActiveWindow())
        m_workspace.document().refreshKeys();
    QMainWindow::changeEvent(event);
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    event->setAccepted(m_projects->mayLeave());
}

void MainWindow::applyPanels()
{
    const bool open = m_workspace.document().model() != nullptr;
    m_stack->setCurrentIndex(open ? m_stack->indexOf(m_graph) : 0);
    m_left->setVisible(open && (*m_actions)[ActionId::ShowModules].isChecked());
    m_properties->setVisible(open && (*m_actions)[ActionId::ShowProperties].isChecked());
    m_bottom->setVisible(open && (*m_actions)[ActionId::ShowBottom].isChecked());
}

void MainWindow::refreshTitle()
{
    const auto& document = m_workspace.document();
    if (!document.model()) {
        setWindowTitle(QStringLiteral("Quantscope"));
        m_cornerTitle->clear();
        placeTitle();
        return;
    }
    // Another window may have a file of this name: the full folder distinguishes them.
    const QString project = m_projects->projectName();
    const QFileInfo open(project.isEmpty() ? toQString(document.model()->info().path)
                                           : m_projects->projectPath());
    const QString star = document.isModified() ? QStringLiteral("*") : QString();
    QStringList parts {(project.isEmpty() ? document.title() : project) + star};
    if (!project.isEmpty())
        parts << tr("project of %1").arg(document.title());
    if (m_projects->isReadOnly())
        parts << tr("read-only");
    parts << tr("recipe %1").arg(backendTitle(document.recipe())) << inHome(open.absolutePath());
    const QString title = parts.join(QStringLiteral(" · "));
    m_cornerTitle->setText(title);
    placeTitle();
    setWindowTitle(title + QStringLiteral(" — Quantscope"));
}

/// Gives the title the width that the menus leave.
void MainWindow::placeTitle()
{
    const auto menus = menuBar()->actions();
    const int taken = menus.isEmpty() ? 0 : menuBar()->actionGeometry(menus.back()).right();
    const int buttons = m_corner->layout()->itemAt(1)->sizeHint().width() + px(24);
    const int wanted = m_cornerTitle->sizeHint().width() + px(20);
    m_cornerTitle->setFixedWidth(std::clamp(width() - taken - buttons, 0, wanted));
    menuBar()->setCornerWidget(m_corner); // asks for its size again
    m_corner->show();
}

void MainWindow::resizeEvent(QResizeEvent* event)
{
    QMainWindow::resizeEvent(event);
    placeTitle();
}

void MainWindow::onFailure(Stage stage, const Error& error)
{
    if (error.code == ErrorCode::Cancelled) {
        // A cancelled calibration reports its progress and keeps its statistics.
        const QString after = error.hint.empty() ? QString() : tr("; start it again to resume");
        m_cancelled
            = QStringLiteral("%1 %2").arg(stageText(stage), toQString(error.message)) + after;
        statusBar()->showMessage(m_cancelled, 8000);
        return;
    }
    if (!m_packs->offer(stage, error))
        m_messages->showError(stageText(stage), error, stage != Stage::Open, failureTopic(stage));
    m_log->addError(workspace().facts().titled(toQString(error.line())));
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
    const bool isData = path.endsWith(QLatin1String(".npz"), Qt::CaseInsensitive)
        || path.endsWith(QLatin1String(".tar"), Qt::CaseInsensitive);
    auto& document = m_workspace.document();
    if (isData && document.model()) {
        RunSettings settings = document.settings();
        settings.calibrationData = path.toStdString();
        document.setSettings(settings);
        statusBar()->showMessage(tr("Calibration data: %1").arg(path), 6000);
    } else if (path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive)
               && !isProjectFile(path.toStdString()))
        importNodeData(m_workspace, *m_graph, *m_messages, path);
    else if (m_projects->mayLeave())
        openModel(path);
}

} // namespace qs

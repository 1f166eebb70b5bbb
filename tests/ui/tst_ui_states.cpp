// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/autosave.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/bars/stage_button.h"
#include "ui/shell/project_files.h"

#include <QAction>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

namespace {

/// Opening and comparing wait until they may go on.
class SlowEngine : public FakeEngine
{
public:
    Result<GraphPtr> open(const std::string& path, const JobContext& job) override
    {
        while (waitInOpen) {
            QS_CHECK(job.check());
            job.report("import", path, 1);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return FakeEngine::open(path, job);
    }
    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) override
    {
        while (waitInComparison) {
            QS_CHECK(job.check());
            job.report("compare", "batch 1 of 2", 0.5);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return FakeEngine::compare(request, job);
    }

    std::atomic<bool> waitInOpen = false, waitInComparison = false;
};

} // namespace

/// What the window says of itself is so: tiles, status bar, messages, title, recent files, focus.
class TestStates : public test::WindowTest<SlowEngine>
{
    Q_OBJECT

private:
    using State = StageStatus::State;
    StageStatus status(Stage stage) { return workspace().pipeline().status(stage); }
    QString summary() { return find<QLabel>("statusSummary")->text(); }
    QStringList recent() { return QSettings().value("recentFiles").toStringList(); }
    void open(const QString& path = "/models/net.pt2")
    {
        m_window->openModel(path);
        QTRY_VERIFY(settled());
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        QSettings().clear();
        m_engine.waitInOpen = m_engine.waitInComparison = m_engine.failCalibration = false;
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
    }
    void cleanup()
    {
        m_engine.waitInOpen = m_engine.waitInComparison = false;
        m_window->autosave().forget();
        m_window.reset();
    }

    void aBackendThatNobodyChoseIsNotDone()
    {
        open();
        QCOMPARE(int(status(Stage::Backend).state), int(State::Waiting));
        QVERIFY(status(Stage::Backend).text.contains("not chosen"));
        workspace().chooseBackend("qnnpack");
        QTRY_COMPARE(int(status(Stage::Backend).state), int(State::Done));
    }

    /// A file that does not open is reported; the open model is not a failure.
    void anotherFileThatFailsLeavesTheOpenOneOpen()
    {
        m_window->openModel("/models/missing.pt2");
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QCOMPARE(int(status(Stage::Open).state), int(State::Failed));
        open();
        QCOMPARE(int(status(Stage::Open).state), int(State::Done));
        m_engine.failCalibration = true;
        workspace().pipeline().runUpTo(Stage::Calibrate);
        QTRY_COMPARE(int(status(Stage::Calibrate).state), int(State::Failed));
        m_window->openModel("/models/missing.pt2");
        QTRY_VERIFY(m_window->messageBar().headline().contains("missing.pt2"));
        QTRY_VERIFY(!workspace().pipeline().isBusy());
        QCOMPARE(int(status(Stage::Open).state), int(State::Done));
        // Nor is what failed of the open model forgotten.
        QCOMPARE(int(status(Stage::Calibrate).state), int(State::Failed));
    }

    void aCancelledRunIsOverWhenTheNextBegins()
    {
        open();
        m_engine.waitInComparison = true;
        workspace().pipeline().runUpTo(Stage::Compare);
        QTRY_COMPARE(int(status(Stage::Compare).state), int(State::Running));
        workspace().pipeline().cancel();
        QTRY_VERIFY(m_window->statusBar()->currentMessage().startsWith("Compare "));
        workspace().pipeline().runUpTo(Stage::Compare);
        QCOMPARE(int(status(Stage::Compare).state), int(State::Running));
        QCOMPARE(m_window->statusBar()->currentMessage(), QString());
    }

    void anOldErrorIsOverWhenTheNextRunBegins()
    {
        open();
        m_engine.failCalibration = true;
        m_window->commands().runAll();
        QTRY_VERIFY(m_window->messageBar().isVisible());
        m_engine.failCalibration = false;
        m_engine.waitInComparison = true;
        m_window->commands().runAll();
        QVERIFY(!m_window->messageBar().isVisible());
        QTRY_COMPARE(int(status(Stage::Compare).state), int(State::Running));
        QVERIFY(!m_window->messageBar().isVisible());
    }

    /// While a model is on its way the status bar says so, and nothing is at 100 % and running.
    void openingIsSaid()
    {
        QCOMPARE(summary(), QString("No model open"));
        m_engine.waitInOpen = true;
        m_window->openModel("/models/net.pt2");
        QTRY_COMPARE(summary(), QString("Opening net.pt2 …"));
        QTRY_COMPARE(status(Stage::Open).text, QString("finishing"));
        m_engine.waitInOpen = false;
        QTRY_VERIFY(settled());
        QVERIFY(summary().startsWith("13 of 13 eligible"));
    }

    /// Data are a setting: a project keeps them, a model alone has nothing to save.
    void dataAreNotADecision()
    {
        open();
        RunSettings settings = workspace().document().settings();
        settings.calibrationData = "/data/other.npz";
        settings.comparisonData = "/data/test.npz";
        workspace().document().setSettings(settings);
        QVERIFY(!workspace().document().isModified());
        QVERIFY(!m_window->windowTitle().contains('*'));
        workspace().assign({RuleKind::Node, {"linear"}}, std::string());
        QVERIFY(workspace().document().isModified());
        workspace().undoStack().undo();
        QVERIFY(!workspace().document().isModified());
        const QTemporaryDir folder;
        QVERIFY(m_window->projects().saveTo(folder.filePath("work.json")));
        QVERIFY(!workspace().document().isModified());
        settings.comparisonData.clear();
        workspace().document().setSettings(settings);
        QVERIFY(workspace().document().isModified());
    }

    void recentFilesAreNamedOnce()
    {
        const QTemporaryDir folder;
        const QString file = QFileInfo(folder.path()).canonicalFilePath() + "/net.pt2";
        QFile made(file);
        QVERIFY(made.open(QIODevice::WriteOnly));
        QVERIFY(QFile::link(file, folder.filePath("link.pt2")));
        QDir::setCurrent(folder.path());
        for (const QString& name :
             {QString("net.pt2"), QString("./net.pt2"), file, folder.filePath("link.pt2")}) {
            open(name);
            QCOMPARE(recent(), QStringList(file));
        }
        QDir::setCurrent(QDir::rootPath());
        // What earlier versions kept: relative, and twice.
        QSettings().setValue("recentFiles",
                             QStringList {"net.pt2", file, "/x/../x/a.pt2", "/x/a.pt2",
                                          folder.filePath("link.pt2")});
        m_window->keepNoRecent();
        open();
        m_window = std::make_unique<MainWindow>(m_engine);
        QStringList shown;
        for (const QAction* action : m_window->actions().recentMenu().actions())
            shown << action->toolTip();
        QCOMPARE(shown, QStringList({file, "/x/a.pt2"}));
    }

    /// A page whose tab stands in another group comes to the front when it is asked for.
    void askedForPagesCome()
    {
        open();
        for (const char* name : {"stylePanel", "channelPlot", "metricsPanel", "codePanel",
                                 "runsPanel", "findingsPanel", "stylePanel"}) {
            m_window->showTab(name);
            QCOMPARE(m_window->bottomTabs().currentWidget()->objectName(), QString(name));
            QVERIFY2(m_window->bottomTabs().currentWidget()->isVisible(), name);
        }
    }

    /// A button that goes away with its message or card gives the keyboard to the graph.
    void focusGoesHome()
    {
        open();
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        m_window->messageBar().showChoices(MessageBar::Kind::Note, "x", "A", "b", {},
                                           {{"Apply", "does it", [] {}}});
        auto* choice = find<QPushButton>("messageChoice0");
        choice->setFocus();
        QTest::keyClick(choice, Qt::Key_Space);
        QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&pane().view()));

        workspace().assign({RuleKind::Node, {"linear"}}, std::string());
        QTRY_VERIFY(settled());
        workspace().selectNode(node("linear"));
        QTRY_VERIFY(find<QPushButton>("applyRemedy"));
        auto* apply = find<QPushButton>("applyRemedy");
        apply->setFocus();
        QVERIFY(apply->hasFocus());
        QTest::keyClick(apply, Qt::Key_Space);
        QTRY_VERIFY(settled());
        QTRY_VERIFY(!find<QPushButton>("applyRemedy"));
        QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&pane().view()));
        // A place that somebody chose meanwhile stands.
        m_window->messageBar().showChoices(
            MessageBar::Kind::Note, "x", "A", "b", {},
            {{"Apply", "does it", [this] { m_window->pipelineBar().search().setFocus(); }}});
        choice = find<QPushButton>("messageChoice0");
        choice->setFocus();
        QTest::keyClick(choice, Qt::Key_Space);
        QCoreApplication::processEvents();
        QVERIFY(m_window->pipelineBar().search().hasFocus());
    }
};

QTEST_MAIN(TestStates)
#include "tst_ui_states.moc"

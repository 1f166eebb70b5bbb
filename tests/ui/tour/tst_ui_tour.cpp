// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/pipeline/engine_service.h"
#include "tests/ui/tour/picture_check.h"
#include "ui/frame/actions.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/help/help_window.h"
#include "ui/panels/module_panel.h"
#include "ui/session/workspace.h"
#include "ui/shell/actions/command_palette.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/main_window.h"
#include "ui/source/source_view.h"
#include "ui/style/theme.h"
#include "ui/values/value_inspections.h"
#include "ui/values/values_page.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPixmap>
#include <QSettings>
#include <QStandardPaths>
#include <QTabBar>
#include <QTabWidget>
#include <QTableView>
#include <QTreeView>
#include <QVBoxLayout>
#include <QtTest>

#include <set>

using namespace qs;

/// Looks at the window as a person would go through it, in both themes, at three sizes and with
/// large text; the scale comes from QT_SCALE_FACTOR. Nothing may be cut off, no panel empty. With
/// QS_TOUR=FOLDER every picture is written there.
class TestTour : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<EngineService> m_engine = makeEngine();
    std::unique_ptr<MainWindow> m_window;
    QString m_where; ///< "light-1280x800"
    QStringList m_problems;

    Workspace& workspace() { return m_window->workspace(); }
    QWidget* find(const char* name)
    {
        return m_window->findChild<QWidget*>(QString::fromLatin1(name));
    }
    bool settled()
    {
        return workspace().document().plan() && m_window->graphPane().isLayoutDone()
            && !workspace().pipeline().isBusy();
    }
    void keep(QWidget& widget, const QString& scene)
    {
        const QString folder = qEnvironmentVariable("QS_TOUR");
        if (folder.isEmpty())
            return;
        QDir().mkpath(folder);
        const QString path = QStringLiteral("%1/%2-%3@%4.png")
                                 .arg(folder, m_where, scene)
                                 .arg(widget.devicePixelRatioF());
        QVERIFY2(widget.grab().save(path), qPrintable(path));
    }
    /// Grabs, and notes where a text is cut or one of the panels shows nothing.
    void inspect(const char* scene, std::initializer_list<const char*> panels)
    {
        // Repaints of the plots are queued, and new rows are laid out over some turns of the loop.
        QTest::qWait(30);
        (void)QTest::qWaitFor([this] { return clippedTexts(*m_window).isEmpty(); }, 1000);
        keep(*m_window, QString::fromLatin1(scene));
        const QString at = m_where + QLatin1Char(' ') + QString::fromLatin1(scene);
        for (const QString& text : clippedTexts(*m_window))
            m_problems << at + QStringLiteral(": cut off: ") + text;
        for (const char* panel : panels) {
            QWidget* widget = find(panel);
            if (!widget || !widget->isVisible() || inkOf(*widget) < 0.004)
                m_problems << at + QStringLiteral(": empty: ") + QString::fromLatin1(panel);
        }
    }
    void firstContact();
    void results();
    void colours();
    void overlays();
    void tabs();

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
    }
    void checksFindWhatTheyAreFor();
    void tour_data();
    void tour();
};

void TestTour::checksFindWhatTheyAreFor()
{
    QWidget root;
    root.resize(200, 100);
    auto* label = new QLabel(QStringLiteral("A line that needs far more room than it has"), &root);
    label->setGeometry(0, 0, 60, 20);
    root.show();
    QCOMPARE(clippedTexts(root).size(), 1);
    label->resize(label->sizeHint());
    QVERIFY(clippedTexts(root).isEmpty());
    label->setWordWrap(true);
    label->resize(80, 20);
    QCOMPARE(clippedTexts(root).size(), 1);
    QVERIFY(inkOf(*label) > 0.02);
    label->clear();
    QVERIFY(inkOf(*label) < 0.001);
}

void TestTour::tour_data()
{
    QTest::addColumn<bool>("dark");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("percent");
    QTest::newRow("light-1280x800") << false << QSize(1280, 800) << 100;
    QTest::newRow("light-1600x1000") << false << QSize(1600, 1000) << 100;
    QTest::newRow("dark-1280x800") << true << QSize(1280, 800) << 100;
    QTest::newRow("dark-1600x1000") << true << QSize(1600, 1000) << 100;
    QTest::newRow("light-1280x720") << false << QSize(1280, 720) << 100;
    QTest::newRow("dark-1280x720-large") << true << QSize(1280, 720) << 150;
}

void TestTour::tour()
{
    QFETCH(bool, dark);
    QFETCH(QSize, size);
    QFETCH(int, percent);
    m_where = QString::fromLatin1(QTest::currentDataTag());
    m_problems.clear();
    applyTheme(*qApp, dark, percent);
    m_window = std::make_unique<MainWindow>(*m_engine);
    m_window->resize(size);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    QCOMPARE(m_window->size(), size);
    for (const auto step : {&TestTour::firstContact, &TestTour::results, &TestTour::colours,
                            &TestTour::overlays, &TestTour::tabs}) {
        (this->*step)();
        if (QTest::currentTestFailed())
            return;
        if (percent != 100 && step == &TestTour::results)
            break; // the rest is the same at any text size
    }
    m_window.reset();
    m_problems.removeDuplicates();
    QVERIFY2(m_problems.isEmpty(), qPrintable(m_problems.join(QLatin1Char('\n'))));
}

void TestTour::firstContact()
{
    inspect("empty", {"emptyState", "pipelineBar"});
    m_window->openModel(QStringLiteral(QS_SOURCE_DIR "/resources/samples/digits.pt2"));
    QTRY_VERIFY_WITH_TIMEOUT(settled(), 20000);
    inspect("planned",
            {"moduleTree", "graphView", "verdictList", "guidePanel", "cardQuantization", "cardWhy",
             "pipelineBar"});
}

void TestTour::results()
{
    auto settings = workspace().document().settings();
    settings.calibrationData = QS_SOURCE_DIR "/resources/samples/calib.npz";
    workspace().document().setSettings(settings);
    workspace().pipeline().runUpTo(Stage::Compare);
    QTRY_VERIFY_WITH_TIMEOUT(workspace().document().comparison() && settled(), 60000);
    // On a small screen the pages below the graph are opened by their tab.
    auto& tabs = *m_window->bottomTabs().tabBar();
    QTest::mouseClick(&tabs, Qt::LeftButton, {}, tabs.tabRect(tabs.currentIndex()).center());
    inspect("results",
            {"moduleTree", "graphView", "cardLoss", "cardArguments", "histogramPlot",
             "errorBarPlot", "guidePanel"});
    workspace().selectEntry(workspace().foldTree()->moduleEntry("block1"));
    inspect("module", {"cardQuantization", "cardWhy", "cardLoss", "cardContents"});
    workspace().selectNode(workspace().document().model()->tryFind("conv2d_2")->id);
    m_window->actions()[ActionId::KeepFloat].trigger();
    QTRY_VERIFY(settled());
    inspect("stale", {"cardWhy", "cardLoss", "verdictList", "pipelineBar"});
    m_window->actions()[ActionId::Undo].trigger();
    QTRY_VERIFY(settled());
}

void TestTour::colours()
{
    auto& pane = m_window->graphPane();
    const auto& model = workspace().document().model();
    // Every operator that runs was timed, whatever was quantized.
    std::set<NodeId> timed;
    for (const auto& time : workspace().document().comparison()->floatTimes)
        timed.insert(time.node);
    for (const auto& node : model->nodes())
        if (node->kind == NodeKind::Op)
            QVERIFY2(timed.count(node->id) == 1, node->name.c_str());
    QVERIFY(!workspace().document().comparison()->loweredTimes.empty());
    workspace().selectNode(model->tryFind("conv2d_2")->id);
    QTRY_VERIFY(settled());
    pane.setColourBy(ColourBy::Time);
    QVERIFY(pane.view().graphScene().canvas().style().scale);
    inspect("time", {"legend", "cardValues"});
    pane.setColourBy(ColourBy::Memory);
    inspect("memory", {"legend"});
    workspace().styleRules().replace(
        {{QStringLiteral("op:conv"), QStringLiteral("#0072b2"), QStringLiteral("filters"), false},
         {QStringLiteral("op:relu -module:block1"), QStringLiteral("#e69f00"), {}, true},
         {QStringLiteral("sqnr<loud"), QStringLiteral("#009e73"), {}, false}});
    m_window->showTab("stylePanel");
    inspect("styles", {"styleTable", "legend"});
    workspace().styleRules().replace({});
    inspect("styles-empty", {"stylePanel"});
    m_window->bottomTabs().setCurrentIndex(0);
    pane.setColourBy(ColourBy::BornHere);
}

void TestTour::tabs()
{
    m_window->showTab("channelPlot");
    inspect("channels", {"channelPlot"});
    m_window->showTab("valuesPage");
    const auto& inspections = m_window->findChild<ValuesPage*>()->inspections();
    QTRY_VERIFY_WITH_TIMEOUT(inspections.inspection() && inspections.values(), 60000);
    inspect("values", {"mapFloat", "mapConverted", "mapDifference", "valuesTable"});
    m_window->showTab("codePanel");
    QTest::qWait(100);
    inspect("code", {"codeLeft"});
    auto* beside = m_window->findChild<QComboBox*>(QStringLiteral("codeOtherForm"));
    beside->setCurrentText(QStringLiteral("beside Python"));
    m_window->findChild<SourceView*>()->setFolder(QStringLiteral(QS_SOURCE_DIR));
    QTest::qWait(100);
    inspect("code-python", {"codeLeft", "sourceText"});
    m_window->findChild<SourceView*>()->setFolder({});
    beside->setCurrentIndex(0);
    m_window->showTab("metricsPanel");
    auto* table = m_window->findChild<QTableView*>(QStringLiteral("metricsTable"));
    table->scrollTo(table->model()->index(0, table->model()->columnCount() - 1));
    inspect("table", {"metricsTable"});
    m_window->actions()[ActionId::KeepFloat].trigger();
    QTRY_VERIFY(settled());
    m_window->showTab("recipePanel");
    inspect("recipe", {"recipeText", "recipeHistory"});
    m_window->actions()[ActionId::Undo].trigger();
    QTRY_VERIFY(settled());
    m_window->showTab("findingsPanel");
    inspect("findings", {});
}

void TestTour::overlays()
{
    m_window->actions()[ActionId::Find].trigger();
    m_window->pipelineBar().search().setText(QStringLiteral("op:conv sqnr<38.5"));
    inspect("search", {"searchPanel", "searchResults"});
    m_window->pipelineBar().search().setText(QStringLiteral("size<3"));
    inspect("search-wrong", {"searchPanel"});
    m_window->pipelineBar().search().clear();
    inspect("search-empty", {"searchPanel"});
    m_window->actions()[ActionId::Palette].trigger();
    QTest::keyClicks(find("paletteField"), QStringLiteral("conv"));
    inspect("palette", {"paletteList"});
    QTest::keyClick(find("paletteField"), Qt::Key_Escape);
    m_window->actions()[ActionId::Assign].trigger();
    inspect("assign", {"paletteList"});
    QTest::keyClick(find("paletteField"), Qt::Key_Escape);
    HelpWindow help(m_window.get());
    help.showTopic(QStringLiteral("comparison"));
    help.show();
    QTest::qWait(30);
    keep(help, QStringLiteral("help"));
    for (const QString& text : clippedTexts(help))
        m_problems << m_where + QStringLiteral(" help: cut off: ") + text;
}

QTEST_MAIN(TestTour)
#include "tst_ui_tour.moc"

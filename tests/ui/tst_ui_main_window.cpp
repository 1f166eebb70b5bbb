// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/log_panel.h"
#include "ui/panels/module_panel.h"
#include "ui/panels/verdict_list.h"
#include "ui/plots/error_bar_plot.h"
#include "ui/plots/histogram_plot.h"
#include "ui/session/worst_nodes.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/autosave.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/bars/stage_button.h"
#include "ui/shell/main_window.h"
#include "ui/shell/picture/screenshot.h"
#include "ui/values/channel_plot.h"

#include <QComboBox>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTreeView>
#include <QtTest>

using namespace qs;

namespace {

/// One of its kernels is not trusted.
class RefusingEngine : public FakeEngine
{
public:
    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) override
    {
        QS_TRY(ConvertedPtr made, FakeEngine::convert(request, job));
        auto out = std::make_shared<ConvertedModel>(*made);
        out->checks.resize(2);
        out->checks[0].passed = true;
        out->checks[1].passed = false;
        return ConvertedPtr(out);
    }
};

} // namespace

/// Every test has its own window on the fake engine.
class TestMainWindow : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private:
    void compareAll()
    {
        m_window->commands().runAll();
        QTRY_VERIFY(workspace().document().comparison());
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init();
    void cleanup()
    {
        m_window->autosave().forget(); // nor does the next window offer what this one kept
        m_window.reset();
    }
    void emptyStateSaysWhatToDo();
    void everyActionIsDescribed();
    void walkFromOpenToExport();
    void selectionIsSharedByAllViews();
    void editorAssignsAtItsScope();
    void errorNamesNodeAndWayOut();
    void openingAMissingFileKeepsTheWindow();
    void staleResultsAreMarked();
    void pictureComesWithItsFacts();
    void errorsAreErrorsInTheLog();
    void refusedKernelsShowOnTheirStage();
    void theWholeModelsLossIsItsOutputs();
    void rowsThatAreCutHaveTheirTextAsToolTip();
    void edgeRulesAreToldOfTheirInput();
};

void TestMainWindow::init()
{
    m_engine.failCalibration = false;
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 800);
    m_window->show();
    if (qstrcmp(QTest::currentTestFunction(), "emptyStateSaysWhatToDo") == 0)
        return;
    m_window->openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(settled());
}

void TestMainWindow::emptyStateSaysWhatToDo()
{
    auto* empty = find<QWidget>("emptyState");
    QVERIFY(empty && empty->isVisible());
    QVERIFY(find<QWidget>("emptyOpen")->isVisible());
    QVERIFY(!m_window->graphPane().isVisible());
    QVERIFY(!m_window->actions()[ActionId::Calibrate].isEnabled());
    QVERIFY(m_window->pipelineBar().button(Stage::Open)->isEnabled());
    QVERIFY(!m_window->pipelineBar().button(Stage::Compare)->isEnabled());
}

void TestMainWindow::everyActionIsDescribed()
{
    QSet<QString> keys;
    for (auto* action : m_window->actions().all()) {
        QVERIFY(!action->objectName().isEmpty());
        QVERIFY2(!action->toolTip().isEmpty(), qPrintable(action->objectName()));
        const QString key = action->shortcut().toString();
        QVERIFY2(!key.isEmpty(), qPrintable(action->objectName()));
        QVERIFY2(!keys.contains(key), qPrintable(key));
        keys << key;
    }
    QVERIFY(keys.size() > 30);
}

void TestMainWindow::walkFromOpenToExport()
{
    auto& document = workspace().document();
    QVERIFY(find<QLabel>("statusSummary")
                ->text()
                .startsWith(QStringLiteral(
                    "13 of 13 eligible operators quantized, of 13 in all · a run takes about ")));
    workspace().selectNode(node("linear"));
    m_window->actions()[ActionId::KeepFloat].trigger();
    QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 1);
    QCOMPARE(m_window->verdictList().count(Verdict::Quantized), 12);
    compareAll();
    QCOMPARE(document.comparison()->nodes.size(), std::size_t(6));
    QTRY_COMPARE(m_window->errorPlot().barCount(), 6);
    QCOMPARE(m_window->graphPane().colourBy(), ColourBy::BornHere);
    QVERIFY(
        find<QLabel>("statusSummary")->text().contains(QStringLiteral("top-1 98.0 % → 97.0 %")));
    workspace().pipeline().exportTo({QStringLiteral("/tmp/out"), {"torchscript"}});
    QTRY_COMPARE(document.exported().files.size(), std::size_t(1));
    QCOMPARE(workspace().pipeline().status(Stage::Export).state, StageStatus::State::Done);
    QCOMPARE(m_window->messageBar().topic(), QStringLiteral("export")); // offers to verify
}

void TestMainWindow::selectionIsSharedByAllViews()
{
    compareAll();
    QTRY_VERIFY(m_window->errorPlot().barCount() > 0);
    auto& tree = m_window->modulePanel().tree();
    const auto currentRow = [&tree] { return tree.currentIndex().data().toString(); };

    // From the plot of errors to tree, graph, properties and histogram.
    const auto worst = worstFirst(*workspace().document().comparison(), workspace().facts());
    QCOMPARE(worst.front(), node("linear"));
    auto& errors = m_window->errorPlot();
    const QPoint last = errors.barPosition(errors.barCount() - 1);
    QTest::mouseClick(errors.childAt(last), Qt::LeftButton, {},
                      errors.childAt(last)->mapFrom(&errors, last));
    QVERIFY(workspace().selection().contains(worst.front()));
    QCOMPARE(currentRow(), QStringLiteral("fc · linear"));
    QTRY_VERIFY(find<HistogramPlot>("histogramPlot")->barCount() > 50);
    QVERIFY(find<HistogramPlot>("histogramPlot")
                ->caption()
                .startsWith(QStringLiteral("fc · linear output")));
    QTRY_COMPARE(find<ChannelPlot>("channelPlot")->channelCount(), 16);

    // From the tree to the graph: the module becomes the selection.
    const auto root = tree.model()->index(0, 0);
    for (int row = 0; row < tree.model()->rowCount(root); ++row) {
        const auto index = tree.model()->index(row, 0, root);
        if (index.data().toString().startsWith(QStringLiteral("block")))
            tree.setCurrentIndex(index);
    }
    QVERIFY(workspace().selection().isModule());
    QCOMPARE(workspace().selection().modulePath(), QStringLiteral("block"));

    // From the graph back to the tree.
    auto& view = m_window->graphPane().view();
    const QRectF rect = view.graphScene().rectOf(workspace().foldTree()->unitOf(node("relu")));
    view.centerOn(rect.center());
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.mapFromScene(rect.center()));
    QCOMPARE(currentRow(), QStringLiteral("conv1 + bn1 + relu"));
}

void TestMainWindow::editorAssignsAtItsScope()
{
    workspace().selectNode(node("add"));
    auto* scope = find<QComboBox>("scopeBox");
    auto* qconfig = find<QComboBox>("qconfigBox");
    QTRY_VERIFY(scope->findText(QStringLiteral("module block")) >= 0);
    const int module = scope->findText(QStringLiteral("module block"));
    scope->setCurrentIndex(module);
    Q_EMIT scope->activated(module);
    const int keepFloat = qconfig->findText(QStringLiteral("float"));
    qconfig->setCurrentIndex(keepFloat);
    Q_EMIT qconfig->activated(keepFloat);
    QCOMPARE(workspace().document().recipe().mapping.rules.back().key, std::string("block"));
    QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 7);
    m_window->actions()[ActionId::Undo].trigger();
    QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 0);
}

void TestMainWindow::errorNamesNodeAndWayOut()
{
    m_engine.failCalibration = true;
    m_window->commands().runAll();
    auto& bar = m_window->messageBar();
    QTRY_VERIFY(bar.isVisible());
    QVERIFY2(bar.headline().contains(QStringLiteral("block.conv1")), qPrintable(bar.headline()));
    QVERIFY2(bar.detail().contains(QStringLiteral("Check the data")), qPrintable(bar.detail()));
    QTest::mouseClick(find<QWidget>("messageGoto"), Qt::LeftButton);
    QVERIFY(workspace().selection().contains(node("conv2d_1")));
    m_engine.failCalibration = false;
    compareAll();
    QVERIFY(!bar.isVisible());
}

void TestMainWindow::openingAMissingFileKeepsTheWindow()
{
    m_window->openModel(QStringLiteral("/models/missing.pt2"));
    QTRY_VERIFY(m_window->messageBar().isVisible());
    QVERIFY(m_window->messageBar().headline().contains(QStringLiteral("missing.pt2")));
    QVERIFY(workspace().document().model());
    QVERIFY(m_window->graphPane().isVisible());
}

void TestMainWindow::staleResultsAreMarked()
{
    compareAll();
    auto* provenance = find<QLabel>("statusProvenance");
    QTRY_VERIFY(provenance->text().contains(QStringLiteral("(current)")));
    workspace().assign({RuleKind::Node, {"linear"}}, std::string());
    QTRY_VERIFY(provenance->text().contains(QStringLiteral("stale")));
    QCOMPARE(m_window->pipelineBar().button(Stage::Compare)->status().state,
             StageStatus::State::Stale);
    QVERIFY(workspace().facts().errorsStale());
    bool faded = false;
    QTRY_VERIFY(settled());
    for (const auto& nodeStyle : m_window->graphPane().view().graphScene().canvas().style().nodes)
        faded |= nodeStyle.faded;
    QVERIFY(faded);
}

void TestMainWindow::pictureComesWithItsFacts()
{
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("window.png"));
    const auto write = [this](const QString& to) {
        return writeScreenshot(*m_window, workspace().document(), m_window->graphPane(), to, 1.5);
    };
    const auto written = write(path);
    QVERIFY(written);
    QCOMPARE(QImage(path).size(), m_window->size());
    QFile file(path + QStringLiteral(".json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const auto facts = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(facts[QStringLiteral("layout")].toString(), QStringLiteral("done"));
    QCOMPARE(facts[QStringLiteral("nodes_total")].toInt(),
             int(workspace().document().model()->nodes().size()));
    QCOMPARE(facts[QStringLiteral("nodes_drawn")].toInt(), 9);
    QVERIFY(!write(QStringLiteral("/nonexistent/x.png")));
}

void TestMainWindow::errorsAreErrorsInTheLog()
{
    m_engine.failCalibration = true;
    m_window->commands().runAll();
    QTRY_VERIFY(m_window->messageBar().isVisible());
    QTRY_VERIFY2(m_window->logPanel().toPlainText().contains(QStringLiteral("error: ")),
                 qPrintable(m_window->logPanel().toPlainText()));
    const QString log = m_window->logPanel().toPlainText();
    const QString line = log.section(QLatin1Char('\n'), -1);
    QVERIFY2(line.contains(QStringLiteral("NaN")) && !line.contains(QStringLiteral("warning")),
             qPrintable(line));
}

void TestMainWindow::refusedKernelsShowOnTheirStage()
{
    compareAll();
    QVERIFY(!m_window->pipelineBar().button(Stage::Convert)->needsAttention());
    RefusingEngine refusing;
    MainWindow window(refusing);
    window.show();
    window.openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(window.workspace().document().plan() && !window.workspace().pipeline().isBusy());
    window.commands().runAll();
    QTRY_VERIFY(window.workspace().document().comparison());
    QTRY_VERIFY(window.pipelineBar().button(Stage::Convert)->needsAttention());
    QVERIFY(window.pipelineBar()
                .button(Stage::Convert)
                ->toolTip()
                .contains(QStringLiteral("1 of 2 kernels refused")));
    QVERIFY(!window.pipelineBar().button(Stage::Compare)->needsAttention());
}

void TestMainWindow::theWholeModelsLossIsItsOutputs()
{
    compareAll();
    const auto words = [this] {
        QStringList out;
        for (const auto* label : find<QWidget>("cardLoss")->findChildren<QLabel*>())
            out << label->text();
        return out;
    };
    const auto isOfOutputs = [&] {
        return words().contains(QStringLiteral("lowered"))
            && words().contains(QStringLiteral("reference"))
            && words().contains(QStringLiteral("output"))
            && !words().contains(QStringLiteral("isolated"));
    };
    QTRY_VERIFY(words().contains(QStringLiteral("isolated"))); // the worst node is selected
    workspace().selection().clear();
    QTRY_VERIFY2(isOfOutputs(), qPrintable(words().join(QLatin1Char('|'))));
    QVERIFY(find<QWidget>("cardLoss")->isVisible());
    QVERIFY(!find<QWidget>("cardWhy")->isVisible());
    workspace().selectEntry(FoldTree::kRoot);
    QTRY_VERIFY(isOfOutputs() && find<QWidget>("cardWhy")->isVisible());
}

void TestMainWindow::rowsThatAreCutHaveTheirTextAsToolTip()
{
    const auto& model = *m_window->modulePanel().tree().model();
    const auto root = model.index(0, 0);
    for (int row = 0; row < model.rowCount(root); ++row) {
        const auto cell = model.index(row, 0, root);
        QVERIFY2(cell.data(Qt::ToolTipRole).toString().contains(cell.data().toString()),
                 qPrintable(cell.data().toString()));
    }
    for (const char* name : {"statusSummary", "statusProvenance", "propertyTitle"})
        QCOMPARE(find<QLabel>(name)->toolTip(), find<QLabel>(name)->text());
}

void TestMainWindow::edgeRulesAreToldOfTheirInput()
{
    auto& document = workspace().document();
    workspace().selectNode(node("linear"));
    QTRY_VERIFY(find<QWidget>("cardWhy")->isVisible());
    QVERIFY(!find<QLabel>("whyInputRule"));
    auto plan = std::make_shared<Plan>(*document.plan());
    for (auto& decided : plan->nodes)
        if (decided.node == node("linear")) {
            Rule edge;
            edge.kind = RuleKind::Edge;
            edge.key = "flatten";
            edge.qconfig = {"act7", decided.qconfig};
            decided.inputRules = {edge};
        }
    document.setPlan(plan, document.keys());
    QTRY_VERIFY(find<QLabel>("whyInputRule"));
    const QString text = find<QLabel>("whyInputRule")->text();
    QVERIFY2(text.contains(QStringLiteral("flatten")) && text.contains(QStringLiteral("act7")),
             qPrintable(text));
}

QTEST_MAIN(TestMainWindow)
#include "tst_ui_main_window.moc"

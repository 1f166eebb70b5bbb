// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/graph_edit.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/style/colour_box.h"
#include "ui/graph/style/legend.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/plots/error_bar_plot.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/node_data_files.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QSettings>
#include <QStandardItemModel>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

namespace {

/// Its lowered form is a separate graph.
class LoweringEngine : public FakeEngine
{
public:
    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) override
    {
        QS_TRY(const ConvertedPtr made, FakeEngine::convert(request, job));
        auto out = std::make_shared<ConvertedModel>(*made);
        GraphEdit edit(*made->lowered);
        edit.change(made->lowered->tryFind("linear")->id).target = "quantized.linear.default";
        out->lowered = std::make_shared<const Graph>(edit.build());
        return ConvertedPtr(out);
    }
};

} // namespace

/// What the colours can stand for besides verdicts and errors: time, memory, another program's
/// data.
class TestColours : public test::WindowTest<LoweringEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
    }
    void init()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->show();
        m_window->openModel(QStringLiteral("net.pt2"));
        QTRY_VERIFY(settled());
    }
    void cleanup()
    {
        m_window.reset();
        m_engine.lossStep = 4;
    }
    void timeIsMeasuredByComparing();
    void timeAddsUpInModules();
    void loweredFormHasItsOwnTimes();
    void memoryCountsWhatIsInside();
    void importedNumbersFollowTheFile();
    void importedRangesAndWords();
    void fileIsDropped();
    void dataAreDropped();
    void badFileIsOneLine();
    void unmatchedResultsAreTold();
    void importedDataCanBeChosenOnceThere();
    void theWorstIsNeverCutOff();
    void lossBarsCompareTheTerms();

private:
    const GraphStyle& style() { return pane().view().graphScene().canvas().style(); }
    int drawn(const char* name)
    {
        const auto& drawing = *pane().view().graphScene().drawing();
        const NodeId id = node(name);
        for (int i = 0; i < int(drawing.tree->size()); ++i)
            for (const NodeId member : drawing.tree->entry(i).members)
                if (member == id || drawing.graph->get(member).origin == id)
                    return drawing.nodeShowing(i);
        return -1;
    }
    QString badge(const char* name) { return style().text(drawn(name)).badge; }
    const NodeStyle& nodeStyle(const char* name) { return style().nodes[std::size_t(drawn(name))]; }
    void compareAll()
    {
        m_window->commands().runAll();
        QTRY_VERIFY(workspace().document().comparison() && settled());
    }
    QString file(const QByteArray& text)
    {
        QString path = m_folder.filePath(QStringLiteral("data.json"));
        QFile out(path);
        if (out.open(QIODevice::WriteOnly))
            out.write(text);
        return path;
    }
    void import(const QByteArray& text)
    {
        importNodeData(workspace(), pane(), m_window->messageBar(), file(text));
        QTRY_VERIFY(settled());
    }
    Legend& legend() { return *find<Legend>("legend"); }

    QTemporaryDir m_folder;
};

void TestColours::timeIsMeasuredByComparing()
{
    pane().setColourBy(ColourBy::Time);
    QVERIFY(!style().scale);
    QVERIFY(style().title.contains(QStringLiteral("Compare")));
    QVERIFY(legend().isVisible());
    compareAll();
    pane().setColourBy(ColourBy::Time);
    QVERIFY(style().scale && style().title.isEmpty());
    // conv2d 1 ms, batch_norm 0.5 ms, relu 0.25 ms are one node.
    QCOMPARE(badge("conv2d"), QStringLiteral("1.8ms"));
    QVERIFY(badge("linear").endsWith(QString::fromUtf8("µs")));
    QVERIFY(nodeStyle("conv2d").measure > nodeStyle("linear").measure);
    QCOMPARE(QColor(nodeStyle("conv2d").fill),
             rampColour({}, style().range.badness(double(nodeStyle("conv2d").measure))));
    const QPoint handle = legend().handleAt(true).toPoint();
    QTest::mousePress(&legend(), Qt::LeftButton, {}, handle);
    QTest::mouseMove(&legend(), QPoint(legend().width() / 2, handle.y()));
    QTest::mouseRelease(&legend(), Qt::LeftButton, {}, QPoint(legend().width() / 2, handle.y()));
    QVERIFY(nodeStyle("conv2d").behind && !nodeStyle("linear").behind);
}

void TestColours::timeAddsUpInModules()
{
    compareAll();
    pane().foldAll();
    QTRY_VERIFY(settled());
    pane().setColourBy(ColourBy::Time);
    const auto& facts = workspace().facts();
    const auto& tree = *workspace().foldTree();
    const auto nodes = tree.nodesOf(tree.moduleEntry("block"));
    double sum = 0;
    for (const auto& time : workspace().document().comparison()->floatTimes)
        if (std::find(nodes.begin(), nodes.end(), time.node) != nodes.end())
            sum += time.seconds;
    QVERIFY(sum > 0);
    QCOMPARE(*facts.seconds(*workspace().document().model(), nodes), sum);
    QCOMPARE(badge("add"), measureText(ColourBy::Time, std::log2(sum * 1e9)));
}

void TestColours::loweredFormHasItsOwnTimes()
{
    compareAll();
    pane().setColourBy(ColourBy::Time);
    const float inFloat = nodeStyle("linear").measure;
    QVERIFY(workspace().document().converted()->lowered != workspace().document().model());
    pane().showForm(CodeForm::Lowered);
    QTRY_VERIFY(settled());
    QTRY_COMPARE(inFloat - nodeStyle("linear").measure,
                 2.0f); // four times as fast, as a power of two
}

void TestColours::memoryCountsWhatIsInside()
{
    pane().setColourBy(ColourBy::Memory);
    QVERIFY(style().scale);
    QCOMPARE(badge("flatten"), QStringLiteral("128K")); // 8×16×16×16 float32
    QCOMPARE(badge("linear"), QStringLiteral("129K")); // and 10×16 of weight
    QVERIFY(legend().isVisible());
}

void TestColours::importedNumbersFollowTheFile()
{
    import(R"({"name": "latency", "results": {"linear": {"value": 10}, "flatten": {"value": 0}},
               "gradient": [{"stop": 0, "bgColor": "#000000"}, {"stop": 1, "bgColor": "#ff0000"}]})");
    QTRY_COMPARE(pane().colourBy(), ColourBy::Imported);
    QVERIFY(style().scale);
    QCOMPARE(style().title, QStringLiteral("latency"));
    QCOMPARE(badge("linear"), QStringLiteral("10"));
    QCOMPARE(QColor(nodeStyle("linear").fill), QColor(255, 0, 0));
    QCOMPARE(QColor(nodeStyle("flatten").fill), QColor(0, 0, 0));
    QVERIFY(!nodeStyle("add").isMeasured());
    // It stays chosen when results arrive.
    compareAll();
    QCOMPARE(pane().colourBy(), ColourBy::Imported);
}

void TestColours::importedRangesAndWords()
{
    import(R"({"results": {"linear": {"value": 5}, "flatten": {"value": 70},
                           "adaptive_avg_pool2d": {"value": "fast"}, "add": {"value": 3, "bgColor": "#123456"}},
               "thresholds": [{"value": 10, "bgColor": "#00ff00", "label": "cheap"}]})");
    QTRY_COMPARE(pane().colourBy(), ColourBy::Imported);
    QVERIFY(!style().scale);
    QCOMPARE(style().title, QStringLiteral("data"));
    QCOMPARE(QColor(nodeStyle("linear").bar), QColor(0, 255, 0));
    QVERIFY(QColor(nodeStyle("flatten").bar) != QColor(0, 255, 0));
    QCOMPARE(badge("flatten"), QStringLiteral("70"));
    QCOMPARE(badge("adaptive_avg_pool2d"), QStringLiteral("fast"));
    QStringList words;
    for (const auto& entry : style().legend)
        words << entry.text;
    QVERIFY(words.contains(QStringLiteral("cheap")));
    QVERIFY(words.contains(QStringLiteral("fast")));
}

void TestColours::fileIsDropped()
{
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(file(R"({"results": {"linear": {"value": 1}}})"))});
    QDragEnterEvent enter(QPoint(200, 200), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(200, 200), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &drop);
    QTRY_COMPARE(pane().colourBy(), ColourBy::Imported);
    QVERIFY(workspace().document().nodeData()->tryGet(node("linear")));
}

void TestColours::dataAreDropped()
{
    for (const char* name : {"other.npz", "train-0000.tar"}) {
        const QString path = m_folder.filePath(QString::fromLatin1(name));
        QMimeData mime;
        mime.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter(QPoint(200, 200), Qt::CopyAction, &mime, Qt::LeftButton,
                              Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QDropEvent drop(QPointF(200, 200), Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &drop);
        QCOMPARE(workspace().document().settings().calibrationData, path.toStdString());
        QVERIFY2(workspace().document().model(), "the model stays open");
    }
}

void TestColours::badFileIsOneLine()
{
    import(R"({"results": {"linear": 5}})");
    QTRY_VERIFY(m_window->messageBar().isVisible());
    const QString line = m_window->messageBar().detail();
    QVERIFY2(line.contains(QStringLiteral("results.linear"), Qt::CaseInsensitive),
             qPrintable(line));
    QVERIFY(!line.contains(QLatin1Char('\n')));
    QVERIFY(!workspace().document().nodeData());
    QCOMPARE(pane().colourBy(), ColourBy::Verdict);
}

void TestColours::unmatchedResultsAreTold()
{
    import(R"({"results": {"linear": {"value": 1}, "elsewhere": {"value": 2}}})");
    QTRY_VERIFY(workspace().document().nodeData());
    QVERIFY(m_window->messageBar().isVisible());
    QVERIFY(m_window->messageBar().headline().contains(QStringLiteral("1 of 2")));
}

void TestColours::importedDataCanBeChosenOnceThere()
{
    auto* box = find<ColourBox>("colourBy");
    auto* items = qobject_cast<QStandardItemModel*>(box->model());
    QCOMPARE(box->count(), kColourByCount);
    QVERIFY(!items->item(int(ColourBy::Imported))->isEnabled());
    import(R"({"results": {"linear": {"value": 1}}})");
    QTRY_VERIFY(items->item(int(ColourBy::Imported))->isEnabled());
    m_window->openModel(QStringLiteral("net.pt2"));
    QTRY_VERIFY(!workspace().document().nodeData());
    QTRY_VERIFY(settled() && !items->item(int(ColourBy::Imported))->isEnabled());
}

void TestColours::theWorstIsNeverCutOff()
{
    m_engine.lossStep = 24; // 42, 18, -6 and so on to -102 dB
    compareAll();
    const auto& nodes = workspace().document().comparison()->nodes;
    const auto fill = [&](std::size_t i) {
        return nodeStyle(workspace().document().model()->get(nodes[i].node).name.c_str()).fill;
    };
    for (std::size_t i = 1; i < nodes.size(); ++i)
        QVERIFY2(fill(i) != fill(i - 1), qPrintable(QString::number(i)));
    QCOMPARE(style().full.best, 42.0);
    QCOMPARE(style().full.worst, -102.0);
    QCOMPARE(scaleEnds(style().by, style().range.best, style().range.worst).second,
             QStringLiteral("worst -102 dB"));
    const auto& plot = m_window->errorPlot();
    QTRY_COMPARE(plot.barCount(), int(nodes.size()));
    QTRY_VERIFY(plot.barHeight(6) > plot.barHeight(5) * 1.1);
    QVERIFY(plot.barHeight(0) > 3);

    // Far better than 8 bits make it: the scale and the bars follow.
    m_engine.lossStep = -8; // 42 to 90 dB
    m_window->actions()[ActionId::Compare].trigger();
    QTRY_COMPARE(style().full.worst, 42.0);
    QTRY_VERIFY(plot.barHeight(4) > 2 && plot.barHeight(3) > plot.barHeight(4) * 1.2);
}

void TestColours::lossBarsCompareTheTerms()
{
    compareAll();
    workspace().selectNode(node("linear")); // 22 dB born here, 19 dB cumulative
    QTRY_COMPARE(find<QWidget>("cardLoss")->findChildren<FractionBar*>().size(), 4);
    const auto bars = find<QWidget>("cardLoss")->findChildren<FractionBar*>();
    QCOMPARE(bars[2]->fraction(), 1.0);
    QVERIFY(bars[3]->fraction() < 0.95);
    QCOMPARE(bars[3]->fraction(), bars[0]->fraction());
    // The colour of the node and of its number, as the legend has it.
    QCOMPARE(bars[3]->color().rgb(), nodeStyle("linear").fill);

    // What only moves values is called by the word that the command line has for it.
    const auto words = [this] {
        QStringList all;
        for (const auto* label : find<QWidget>("cardLoss")->findChildren<QLabel*>())
            all << label->text();
        return all;
    };
    QVERIFY2(!words().contains(QStringLiteral("exact")), qPrintable(words().join(u'|')));
    QCOMPARE(words().filter(QStringLiteral("clipping")).size(), 1);
    m_engine.lossStep = -30;
    m_window->actions()[ActionId::Compare].trigger();
    QTRY_VERIFY2(words().contains(QStringLiteral("exact")), qPrintable(words().join(u'|')));
    // It makes no noise that could be divided.
    QVERIFY2(words().filter(QStringLiteral("clipping")).isEmpty(), qPrintable(words().join(u'|')));
}

QTEST_MAIN(TestColours)
#include "tst_ui_colours.moc"

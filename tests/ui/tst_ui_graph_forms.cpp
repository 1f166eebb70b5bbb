// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/decoder_graph.h"
#include "tests/support/fake_engine.h"
#include "ui/graph/export/graph_export.h"
#include "ui/graph/layout/expansion.h"
#include "ui/graph/layout/graph_layout.h"
#include "ui/graph/style/legend.h"
#include "ui/graph/trace.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QXmlStreamReader>
#include <QtTest>

using namespace qs;

namespace {

/// The decoder is not planned in detail: all its nodes stay as they are.
class DecoderEngine : public FakeEngine
{
public:
    explicit DecoderEngine(int layers) { model = decoderGraph(layers); }
};

} // namespace

class TestGraphForms : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void anotherModelStartsAfresh();
    void tabsShowTheForms();
    void splitIsLinkedByProvenance();
    void sharedTablesAreNamed();
    void fanOutShowsOnHover();
    void repeatsUnfoldTogether();
    void arrowsWalkAlongEdges();
    void tracesStandOut();
    void scaleCanBeNarrowed();
    void coarseLayoutShowsTheSame();
    void denseLevelIsPlacedCoarsely();
    void graphIsWritten_data();
    void graphIsWritten();

private:
    void open(std::unique_ptr<FakeEngine> engine)
    {
        m_engine = std::move(engine);
        m_workspace = std::make_unique<Workspace>(*m_engine);
        m_pane = std::make_unique<GraphPane>(*m_workspace);
        m_pane->resize(1100, 700);
        m_pane->show();
        m_workspace->pipeline().open("net.pt2", defaultRecipe());
        QTRY_VERIFY(m_workspace->document().plan() && settled());
    }
    bool settled() { return m_pane->isLayoutDone() && !m_workspace->pipeline().isBusy(); }
    NodeId node(const char* name) { return m_workspace->document().model()->tryFind(name)->id; }
    QToolButton* button(const char* name)
    {
        return m_pane->findChild<QToolButton*>(QString::fromLatin1(name));
    }
    const GraphDrawing& drawing(GraphView& view) { return *view.graphScene().drawing(); }
    void hover(const QPointF& at)
    {
        auto& view = m_pane->view();
        view.centerOn(at);
        const QPoint point = view.mapFromScene(at);
        QTest::mouseMove(view.viewport(), point + QPoint(200, 200));
        QTest::mouseMove(view.viewport(), point);
    }

    std::unique_ptr<FakeEngine> m_engine;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<GraphPane> m_pane;
};

void TestGraphForms::init()
{
    open(std::make_unique<FakeEngine>());
}

void TestGraphForms::cleanup()
{
    m_pane.reset();
    m_workspace.reset();
    m_engine.reset();
}

void TestGraphForms::anotherModelStartsAfresh()
{
    m_pane->showForm(CodeForm::Lowered);
    m_pane->setSplit(true);
    QTRY_VERIFY(settled());
    m_engine->model = decoderGraph(3);
    m_workspace->pipeline().open("decoder.pt2", defaultRecipe());
    QTRY_VERIFY(m_workspace->document().model() == m_engine->model && settled());
    QCOMPARE(m_pane->form(), CodeForm::Float);
    QVERIFY(!m_pane->isSplit());
    QVERIFY(!m_pane->expanded().count("block"));
    QCOMPARE(m_pane->expanded().size(), initialExpansion(*m_workspace->foldTree(), 16).size());
    QVERIFY(m_pane->expanded().count("model"));
}

void TestGraphForms::tabsShowTheForms()
{
    const auto target = [this] {
        const auto& d = drawing(m_pane->view());
        return QString::fromStdString(d.graph->get(node("linear")).target);
    };
    QCOMPARE(target(), QStringLiteral("aten.linear.default"));
    QTest::mouseClick(button("graphFormLowered"), Qt::LeftButton);
    QTRY_VERIFY(settled() && m_pane->view().graphScene().drawing());
    QTRY_COMPARE(target(), QStringLiteral("quantized.linear.default"));
    QVERIFY(m_pane->findChild<QLabel*>(QStringLiteral("graphNote"))
                ->text()
                .contains(QStringLiteral("Names only")));
    // A click in the converted form selects the float node that the kernel came from.
    auto& view = m_pane->view();
    const QRectF rect = drawing(view).rectOf(drawing(view).tree->unitOf(node("linear")));
    view.centerOn(rect.center());
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.mapFromScene(rect.center()));
    QVERIFY(m_workspace->selection().contains(node("linear")));
    QTest::mouseClick(button("graphFormFloat"), Qt::LeftButton);
    QTRY_VERIFY(settled() && drawing(view).tree == m_workspace->foldTree());
}

void TestGraphForms::splitIsLinkedByProvenance()
{
    QTest::mouseClick(button("graphFormSplit"), Qt::LeftButton);
    QTRY_VERIFY(settled() && m_pane->otherView().graphScene().drawing());
    QVERIFY(m_pane->otherView().isVisible());
    QCOMPARE(m_pane->otherForm(), CodeForm::Lowered);
    m_workspace->selectNode(node("linear"));
    m_pane->revealSelection();
    QTRY_VERIFY(settled());
    auto& left = m_pane->view();
    auto& right = m_pane->otherView();
    const auto rectIn = [this](GraphView& view) {
        const auto& d = drawing(view);
        return d.rectOf(d.tree->unitOf(node("linear")));
    };
    // Zooming and moving one view takes the other along: the node stays side by side.
    left.setZoom(0.8);
    left.centerOnEntry(m_workspace->foldTree()->unitOf(node("linear")));
    QCOMPARE(right.zoom(), left.zoom());
    const auto above
        = [&](GraphView& view) { return view.mapFromScene(rectIn(view).center()).y(); };
    QVERIFY2(std::abs(above(left) - above(right)) <= 2,
             qPrintable(QStringLiteral("%1 %2").arg(above(left)).arg(above(right))));
    right.setZoom(1.2);
    QCOMPARE(left.zoom(), 1.2);
    QTest::mouseClick(button("graphFormSplit"), Qt::LeftButton);
    QVERIFY(!right.isVisible());
}

void TestGraphForms::sharedTablesAreNamed()
{
    const auto model = decoderGraph(12);
    const auto tree = FoldTree::build(*model, nullptr);
    std::set<std::string> layers {"model", "model.layers"};
    const auto drawn = layoutGraph(model, tree, entriesOf(*tree, layers));
    QVERIFY(drawn);
    const auto& d = **drawn;
    // Cosines, sines and mask are joined to the first layer and named at the eleven others.
    QCOMPARE(d.references.size(), std::size_t(33));
    std::map<ValueRef, int> lines;
    for (const auto& edge : d.edges)
        lines[edge.value] += d.nodeOfEntry[std::size_t(edge.toEntry)] >= 0;
    for (const auto& reference : d.references) {
        QCOMPARE(d.referencesOf(reference.node).size(), std::size_t(3));
        QVERIFY(lines[reference.value] <= 1);
    }
    // All open, every reader inside the layers says what it reads.
    std::set<int> all;
    for (std::size_t i = 0; i < tree->size(); ++i)
        if (tree->entry(int(i)).isModule())
            all.insert(int(i));
    const auto open = layoutGraph(model, tree, all);
    QVERIFY(open);
    QCOMPARE((*open)->references.size(), std::size_t(12 * 5 - 3));
}

void TestGraphForms::fanOutShowsOnHover()
{
    cleanup();
    open(std::make_unique<DecoderEngine>(12));
    m_pane->expandAll();
    QTRY_VERIFY(settled());
    auto& view = m_pane->view();
    view.setZoom(1);
    const auto& d = drawing(view);
    const NodeId cosines = node("cos");
    const int producer = d.nodeShowing(d.tree->unitOf(cosines));
    const auto before = view.graphScene().items().size();
    hover(d.nodes[std::size_t(producer)].rect.center());
    QTRY_COMPARE(view.graphScene().items().size(), before + 2); // hovered, and its fan-out
    QVERIFY2(view.viewport()->toolTip().contains(QStringLiteral("named at 23 more readers")),
             qPrintable(view.viewport()->toolTip()));
    // At a reader the names are there in full, with their shapes.
    const int reader = d.references.back().node;
    const QRectF rect = d.nodes[std::size_t(reader)].rect;
    hover(QPointF(rect.left() + 20, rect.top() - 8));
    QTRY_VERIFY(view.viewport()->toolTip().contains(QStringLiteral("1×1×128×")));
}

void TestGraphForms::repeatsUnfoldTogether()
{
    cleanup();
    open(std::make_unique<DecoderEngine>(6));
    m_pane->foldAll();
    const auto& tree = *m_workspace->foldTree();
    m_pane->toggleFold(tree.moduleEntry("model"), false);
    m_pane->toggleFold(tree.moduleEntry("model.layers"), false);
    QTRY_VERIFY(settled());
    m_pane->toggleRepeats(tree.moduleEntry("model.layers.2"));
    QTRY_VERIFY(settled());
    for (int i = 0; i < 6; ++i)
        QVERIFY(m_pane->expanded().count("model.layers." + std::to_string(i)));
    QCOMPARE(drawing(m_pane->view()).boxes.size(), std::size_t(8)); // model, layers and six of them
    m_pane->toggleRepeats(tree.moduleEntry("model.layers.0"));
    QTRY_VERIFY(settled());
    QVERIFY(!m_pane->expanded().count("model.layers.5"));
}

void TestGraphForms::arrowsWalkAlongEdges()
{
    m_pane->expandAll();
    QTRY_VERIFY(settled());
    m_workspace->selectNode(node("adaptive_avg_pool2d"));
    auto& view = m_pane->view();
    QTest::keyClick(&view, Qt::Key_Down);
    QVERIFY(m_workspace->selection().contains(node("flatten")));
    QTest::keyClick(&view, Qt::Key_Up);
    QTest::keyClick(&view, Qt::Key_Up);
    QVERIFY(m_workspace->selection().contains(node("add")));
    QTest::keyClick(&view, Qt::Key_Left); // nothing stands beside it
    QVERIFY(m_workspace->selection().contains(node("add")));
}

void TestGraphForms::tracesStandOut()
{
    const Graph& model = *m_workspace->document().model();
    const auto before = tracedNodes(model, {node("conv2d_1")}, false);
    QVERIFY(before.count(node("x")) && before.count(node("relu")) && !before.count(node("add")));
    m_workspace->selectNode(node("linear"));
    m_pane->setTrace(GraphPane::Trace::After);
    const auto behind = [this](const char* name) {
        const auto& d = drawing(m_pane->view());
        const int drawn = d.nodeShowing(d.tree->unitOf(node(name)));
        return m_pane->view().graphScene().canvas().style().nodes[std::size_t(drawn)].behind;
    };
    QVERIFY(behind("flatten") && !behind("linear") && !behind("output"));
    m_workspace->selectNode(node("flatten")); // it follows the selection
    QVERIFY(behind("adaptive_avg_pool2d") && !behind("flatten") && !behind("linear"));
    m_pane->setTrace(GraphPane::Trace::None);
    QVERIFY(!behind("adaptive_avg_pool2d"));
}

void TestGraphForms::scaleCanBeNarrowed()
{
    m_workspace->pipeline().runUpTo(Stage::Compare);
    QTRY_VERIFY(m_workspace->document().comparison() && settled());
    QCOMPARE(m_pane->colourBy(), ColourBy::BornHere);
    auto* legend = m_pane->findChild<Legend*>(QStringLiteral("legend"));
    const auto& style = m_pane->view().graphScene().canvas().style();
    QVERIFY(style.scale && style.range == style.full);
    const QPoint handle = legend->handleAt(false).toPoint();
    QTest::mousePress(legend, Qt::LeftButton, {}, handle);
    QTest::mouseMove(legend, QPoint(legend->width() / 2, handle.y()));
    QTest::mouseRelease(legend, Qt::LeftButton, {}, QPoint(legend->width() / 2, handle.y()));
    QVERIFY(style.range.best < style.full.best);
    int behind = 0;
    for (const auto& nodeStyle : style.nodes)
        behind += nodeStyle.isMeasured() && nodeStyle.behind;
    QVERIFY(behind > 0);
    QTest::mouseDClick(legend, Qt::LeftButton, {}, handle);
    QVERIFY(style.range == style.full);
    m_pane->setColourBy(ColourBy::Memory);
    const auto& d = drawing(m_pane->view());
    const int drawn = d.nodeShowing(d.tree->unitOf(node("linear")));
    QCOMPARE(style.text(drawn).badge, QStringLiteral("129K")); // 8×16×16×16 float32 and its weight
    m_pane->setColourBy(ColourBy::DType);
    QVERIFY(!style.legend.empty());
}

void TestGraphForms::coarseLayoutShowsTheSame()
{
    const auto& model = m_workspace->document().model();
    const auto& tree = m_workspace->foldTree();
    const std::set<int> open {FoldTree::kRoot, tree->moduleEntry("block")};
    const auto fine = layoutGraph(model, tree, open);
    const auto coarse = layoutGraph(model, tree, open, {}, LayoutQuality::Coarse);
    QVERIFY(fine && coarse);
    QCOMPARE((*coarse)->nodes.size(), (*fine)->nodes.size());
    QCOMPARE((*coarse)->edges.size(), (*fine)->edges.size());
    const auto& nodes = (*coarse)->nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        for (std::size_t j = i + 1; j < nodes.size(); ++j)
            QVERIFY(!nodes[i].rect.intersects(nodes[j].rect));
}

void TestGraphForms::denseLevelIsPlacedCoarsely()
{
    // Every node reads all before it: a layered layout would need a hundred thousand dummies.
    LevelGraph level;
    constexpr int kNodes = 90;
    level.items.assign(kNodes, {QSizeF(100, 40), LevelGraph::Place::Free});
    for (int to = 1; to < kNodes; ++to)
        for (int from = 0; from < to; ++from)
            level.edges.push_back({from, to});
    const auto placed = layoutLevel(level);
    for (const auto& bends : placed.bends)
        QVERIFY(bends.empty());
    for (int i = 1; i < kNodes; ++i)
        QVERIFY(placed.centers[std::size_t(i)].y() > placed.centers[std::size_t(i) - 1].y() + 40);
}

void TestGraphForms::graphIsWritten_data()
{
    QTest::addColumn<QString>("suffix");
    for (const char* suffix : {"svg", "pdf", "png"})
        QTest::newRow(suffix) << QString::fromLatin1(suffix);
}

void TestGraphForms::graphIsWritten()
{
    QFETCH(QString, suffix);
    m_pane->expandAll();
    QTRY_VERIFY(settled());
    auto& canvas = m_pane->view().graphScene().canvas();
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("graph.") + suffix);
    const auto written = exportGraph(canvas, path, 3);
    QVERIFY2(written, written ? "" : written.error().line().c_str());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray bytes = file.readAll();
    if (suffix == QLatin1String("png")) {
        // Several tiles in both directions, and what they show is what the view paints.
        const QImage image(path);
        QCOMPARE(image.size(), pictureSize(canvas, 3));
        QVERIFY(image.width() > 1024 && image.height() > 2048);
        const QRectF node = drawing(m_pane->view()).nodes.back().rect;
        const QPointF bar = (node.topLeft() + QPointF(2, 20) - canvas.boundingRect().topLeft()) * 3;
        QCOMPARE(image.pixel(bar.toPoint()), canvas.style().nodes.back().bar);
        QCOMPARE(image.pixelColor(1, 1), theme().canvas);
    } else if (suffix == QLatin1String("svg")) {
        QXmlStreamReader xml(bytes);
        QString words;
        while (!xml.atEnd()) {
            xml.readNext();
            if (xml.isStartElement() && xml.name() == QLatin1String("svg")) {
                QCOMPARE(xml.attributes().value(QLatin1String("viewBox")).toString(),
                         QStringLiteral("0 0 %1 %2")
                             .arg(canvas.boundingRect().width())
                             .arg(canvas.boundingRect().height()));
            }
            if (xml.isCharacters())
                words += xml.text().toString() + QLatin1Char('\n');
        }
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        for (int i = 0; i < int(drawing(m_pane->view()).nodes.size()); ++i)
            QVERIFY2(words.contains(canvas.style().text(i).detail), qPrintable(words));
        QVERIFY(words.contains(QStringLiteral("flatten"))
                && words.contains(QStringLiteral("8×16")));
    } else {
        QVERIFY(bytes.startsWith("%PDF") && bytes.contains("/Type /Page"));
    }
    QVERIFY(!exportGraph(canvas, folder.filePath(QStringLiteral("graph.gif"))));
    QVERIFY(!exportGraph(canvas, QStringLiteral("/nowhere/graph.") + suffix));
}

QTEST_MAIN(TestGraphForms)
#include "tst_ui_graph_forms.moc"

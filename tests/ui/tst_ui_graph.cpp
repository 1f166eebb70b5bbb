// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/graph_edit.h"
#include "tests/support/typing_engine.h"
#include "ui/graph/graph_walk.h"
#include "ui/graph/layout/expansion.h"
#include "ui/graph/layout/graph_layout.h"
#include "ui/graph/layout/level_layout.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

#include <QSignalSpy>
#include <QtTest>

using namespace qs;

namespace {

std::set<int> everything(const FoldTree& tree)
{
    std::set<int> out;
    for (std::size_t i = 0; i < tree.size(); ++i)
        if (tree.entry(int(i)).isModule())
            out.insert(int(i));
    return out;
}

/// The model of an engine in a pane 900 wide.
template<class Engine>
struct ShownPane
{
    Engine engine;
    Workspace workspace {engine};
    GraphPane pane {workspace};

    explicit ShownPane(int height)
    {
        pane.resize(900, height);
        pane.show();
        workspace.pipeline().open("net.pt2", defaultRecipe());
    }
    bool isReady()
    {
        return workspace.document().plan() && pane.isLayoutDone() && !workspace.pipeline().isBusy();
    }
};

} // namespace

class TestGraph : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void layoutKeepsThingsApart_data();
    void layoutKeepsThingsApart();
    void edgesRunWithTheFlow_data();
    void edgesRunWithTheFlow();
    void nodesStayUprightSideways();
    void edgesOfSizesAreMarked();
    void paneRunsToTheRight();
    void foldedModuleIsOneNode();
    void longChainIsLaidOut();
    void hubIsShownByName();
    void cancelledLayoutStops();
    void firstViewOpensWhatFits();
    void paneFoldsAndUnfolds();
    void clickSelectsAndZoomKeepsLimits();
    void whatTheDataTellLeavesTheViewAsItIs();
};

void TestGraph::layoutKeepsThingsApart_data()
{
    QTest::addColumn<int>("flow");
    QTest::newRow("down") << int(Flow::Down);
    QTest::newRow("right") << int(Flow::Right);
}

void TestGraph::layoutKeepsThingsApart()
{
    QFETCH(int, flow);
    const auto model = fakeModel();
    const auto tree = FoldTree::build(*model, nullptr);
    const auto drawing
        = layoutGraph(model, tree, everything(*tree), {}, LayoutQuality::Fine, Flow(flow));
    QVERIFY(drawing);
    const auto& d = **drawing;
    QCOMPARE(d.nodes.size(), std::size_t(15)); // 13 operators, input and output
    for (std::size_t i = 0; i < d.nodes.size(); ++i)
        for (std::size_t j = i + 1; j < d.nodes.size(); ++j)
            QVERIFY2(!d.nodes[i].rect.intersects(d.nodes[j].rect),
                     tree->entry(d.nodes[i].entry).label.c_str());
    QCOMPARE(d.boxes.size(), std::size_t(1));
    for (const auto& node : d.nodes) {
        const bool inside = tree->isWithin(node.entry, d.boxes[0].entry);
        QCOMPARE(d.boxes[0].rect.contains(node.rect), inside);
        QVERIFY(inside || !d.boxes[0].rect.intersects(node.rect));
        QVERIFY(d.bounds.contains(node.rect));
    }
}

void TestGraph::edgesRunWithTheFlow_data()
{
    layoutKeepsThingsApart_data();
}

void TestGraph::edgesRunWithTheFlow()
{
    QFETCH(int, flow);
    const auto model = fakeModel();
    const auto tree = FoldTree::build(*model, nullptr);
    const auto drawing
        = layoutGraph(model, tree, everything(*tree), {}, LayoutQuality::Fine, Flow(flow));
    QVERIFY(drawing);
    // As if it ran downwards.
    const auto down
        = [&](const QPointF& at) { return Flow(flow) == Flow::Down ? at : at.transposed(); };
    int ending = 0;
    for (const auto& edge : (*drawing)->edges) {
        const auto points = (*drawing)->pointsOf(edge);
        QVERIFY(points.size() >= 2);
        QVERIFY(down(points.front()).y() < down(points.back()).y());
        const int node = (*drawing)->nodeOfEntry[std::size_t(edge.toEntry)];
        if (node < 0)
            continue;
        const QRectF drawn = (*drawing)->nodes[std::size_t(node)].rect;
        const QRectF rect(down(drawn.topLeft()), down(drawn.bottomRight()));
        QVERIFY(std::abs(down(points.back()).y() - rect.top()) < 0.01); // points are floats
        QVERIFY(down(points.back()).x() > rect.left() && down(points.back()).x() < rect.right());
        ++ending;
    }
    QVERIFY(ending >= 13); // each operator reads at least one value, add reads two
}

void TestGraph::nodesStayUprightSideways()
{
    const auto model = fakeModel();
    const auto tree = FoldTree::build(*model, nullptr);
    const auto downwards = layoutGraph(model, tree, everything(*tree));
    const auto sideways
        = layoutGraph(model, tree, everything(*tree), {}, LayoutQuality::Fine, Flow::Right);
    QVERIFY(downwards && sideways);
    const auto& d = **sideways;
    for (const auto& node : d.nodes) {
        QCOMPARE(node.rect.size(), (*downwards)->rectOf(node.entry).size());
        QVERIFY(node.rect.width() > node.rect.height());
    }
    QVERIFY(d.bounds.width() > d.bounds.height());
    // The title stands above what is in the frame, and is not cut off.
    const DrawnBox& box = d.boxes.front();
    for (const auto& node : d.nodes)
        if (tree->isWithin(node.entry, box.entry))
            QVERIFY(node.rect.top() >= box.rect.top() + kBoxHeader);
    // The keys go with the flow.
    const auto at = [&](const char* name) {
        return d.nodeOfEntry[std::size_t(tree->unitOf(model->tryFind(name)->id))];
    };
    QCOMPARE(nodeBeside(d, Qt::Key_Right, at("flatten")), at("linear"));
    QCOMPARE(nodeBeside(d, Qt::Key_Left, at("linear")), at("flatten"));
    QCOMPARE(nodeBeside(d, Qt::Key_Down, at("flatten")), -1);
}

/// x -> sym_size -> view(x, size): what the size goes along carries no tensor.
void TestGraph::edgesOfSizesAreMarked()
{
    GraphEdit edit;
    const auto add = [&edit](const char* name, NodeKind kind, std::vector<NamedArgument> args,
                             ValueKind made) {
        Node node;
        node.kind = kind;
        node.name = node.target = name;
        node.args = std::move(args);
        Value value;
        value.name = name;
        value.type.kind = made;
        node.outputs = {value};
        return ValueRef {edit.insert(std::move(node)), 0};
    };
    const ValueRef x = add("x", NodeKind::Input, {}, ValueKind::Tensor);
    const ValueRef size = add("sym_size", NodeKind::Op, {{"self", x}}, ValueKind::SymInt);
    const ValueRef half = add("floordiv", NodeKind::Op, {{"self", size}}, ValueKind::SymInt);
    const ValueRef view = add("view", NodeKind::Op,
                              {{"self", x}, {"size", Argument::List {half, 3}}}, ValueKind::Tensor);
    Node out;
    out.kind = NodeKind::Output;
    out.name = "output";
    out.args = {{"output", Argument(view)}, {"size", Argument(size)}};
    edit.insert(std::move(out));
    const auto model = std::make_shared<const Graph>(edit.build());
    const auto tree = FoldTree::build(*model, nullptr);
    const auto drawing = layoutGraph(model, tree, {FoldTree::kRoot});
    QVERIFY(drawing);
    QStringList sizes;
    for (const auto& edge : (*drawing)->edges)
        if (edge.shapeOnly)
            sizes << QString::fromStdString(
                (*drawing)->graph->value(edge.value).name + " > "
                + model->get(tree->entry(edge.toEntry).members.front()).name);
    sizes.sort();
    QCOMPARE(sizes, QStringList({"floordiv > view", "sym_size > floordiv", "sym_size > output"}));
    for (const auto& edge : (*drawing)->edges)
        QCOMPARE(edgeColor(edge) != theme().edge, edge.shapeOnly);
}

void TestGraph::paneRunsToTheRight()
{
    ShownPane<FakeEngine> shown(700);
    auto& [engine, workspace, pane] = shown;
    QTRY_VERIFY(shown.isReady());
    pane.setFlow(Flow::Right);
    QTRY_VERIFY(shown.isReady() && pane.view().graphScene().drawing()->flow == Flow::Right);
    pane.view().setZoom(2);
    auto* map = pane.findChild<QWidget*>("minimap");
    QTRY_VERIFY(map->isVisible());
    QVERIFY(map->width() > map->height()); // above the graph
    QVERIFY(map->geometry().bottom() < pane.view().mapTo(&pane, QPoint(0, 0)).y());
    workspace.selectNode(workspace.document().model()->tryFind("flatten")->id);
    QTest::keyClick(&pane.view(), Qt::Key_Right);
    QVERIFY(workspace.selection().contains(workspace.document().model()->tryFind("linear")->id));
    const QRectF bounds = pane.view().graphScene().drawing()->bounds;
    QVERIFY(bounds.width() > 3 * bounds.height());
}

void TestGraph::foldedModuleIsOneNode()
{
    const auto model = fakeModel();
    const auto tree = FoldTree::build(*model, nullptr);
    const auto drawing = layoutGraph(model, tree, {FoldTree::kRoot});
    QVERIFY(drawing);
    QCOMPARE((*drawing)->nodes.size(), std::size_t(9));
    QVERIFY((*drawing)->boxes.empty());
    // The two reads of the stem's value by the block are one line.
    QCOMPARE((*drawing)->edges.size(), std::size_t(8));
}

void TestGraph::longChainIsLaidOut()
{
    const auto model = fakeChain(4000);
    const auto tree = FoldTree::build(*model, nullptr);
    const auto drawing = layoutGraph(model, tree, {FoldTree::kRoot});
    QVERIFY(drawing);
    QCOMPARE((*drawing)->nodes.size(), std::size_t(4002));
}

void TestGraph::hubIsShownByName()
{
    LevelGraph level;
    level.items.assign(3, {QSizeF(100, 40), LevelGraph::Place::Free});
    level.items.push_back({QSizeF(12, 1), LevelGraph::Place::Bottom});
    level.edges = {{0, 1}, {0, 2}, {1, 3}};
    const auto placed = layoutLevel(level);
    // A port at the bottom lies below everything, the node without readers included.
    for (int i = 0; i < 3; ++i)
        QVERIFY(placed.centers[3].y() > placed.centers[std::size_t(i)].y());
}

void TestGraph::cancelledLayoutStops()
{
    const auto model = fakeModel();
    const auto tree = FoldTree::build(*model, nullptr);
    std::stop_source stop;
    stop.request_stop();
    const auto drawing = layoutGraph(model, tree, {FoldTree::kRoot}, JobContext(stop.get_token()));
    QVERIFY(!drawing);
    QCOMPARE(drawing.error().code, ErrorCode::Cancelled);
}

void TestGraph::firstViewOpensWhatFits()
{
    const auto model = fakeModel();
    const auto tree = FoldTree::build(*model, nullptr);
    QCOMPARE(initialExpansion(*tree, 9).size(), std::size_t(1));
    QCOMPARE(initialExpansion(*tree, 30).size(), std::size_t(2));
}

void TestGraph::paneFoldsAndUnfolds()
{
    ShownPane<FakeEngine> shown(600);
    auto& [engine, workspace, pane] = shown;
    QTRY_VERIFY(shown.isReady());
    const int block = workspace.foldTree()->moduleEntry("block");
    const auto drawn = [&view = pane.view()] { return view.graphScene().drawing()->nodes.size(); };
    QCOMPARE(drawn(), std::size_t(9)); // fused: stem, 3 in the block, pool, flatten, fc, x, output
    QSignalSpy laidOut(&pane, &GraphPane::layoutFinished);
    pane.toggleFold(block, false);
    QTRY_COMPARE(laidOut.count(), 1);
    QCOMPARE(drawn(), std::size_t(7));
    QVERIFY(workspace.selection().isModule());

    // Selecting what is folded away and asking for it opens the module again.
    workspace.selectNode(workspace.document().model()->tryFind("add")->id);
    pane.revealSelection();
    QTRY_COMPARE(laidOut.count(), 2);
    QCOMPARE(drawn(), std::size_t(9));
    QVERIFY(pane.view().isShowing(
        pane.view().graphScene().rectOf(workspace.selectedEntries().front())));
}

void TestGraph::clickSelectsAndZoomKeepsLimits()
{
    ShownPane<FakeEngine> shown(700);
    auto& [engine, workspace, pane] = shown;
    QTRY_VERIFY(shown.isReady());
    auto& view = pane.view();
    const NodeId fc = workspace.document().model()->tryFind("linear")->id;
    const QRectF rect = view.graphScene().rectOf(workspace.foldTree()->unitOf(fc));
    view.centerOn(rect.center());
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.mapFromScene(rect.center()));
    QVERIFY(workspace.selection().contains(fc));
    for (int i = 0; i < 60; ++i)
        view.zoomBy(1.5);
    QCOMPARE(view.zoom(), 4.0);
    pane.fit();
    QVERIFY(view.zoom() <= 1);
}

/// A model that a run refined is still the float form, with its words and open modules.
void TestGraph::whatTheDataTellLeavesTheViewAsItIs()
{
    ShownPane<TypingEngine> shown(700);
    auto& [engine, workspace, pane] = shown;
    QTRY_VERIFY(shown.isReady());
    const auto drawing = [&view = pane.view()] { return view.graphScene().drawing(); };
    QSignalSpy laidOut(&pane, &GraphPane::layoutFinished);
    pane.toggleFold(workspace.foldTree()->moduleEntry("block"), false);
    QTRY_COMPARE(laidOut.count(), 1);
    QCOMPARE(drawing()->nodes.size(), std::size_t(7));
    const GraphPtr before = workspace.document().model();
    workspace.pipeline().runUpTo(Stage::Calibrate);
    QTRY_VERIFY(workspace.document().calibration() && !workspace.pipeline().isBusy());
    QVERIFY(workspace.document().model() != before);
    QTRY_COMPARE(laidOut.count(), 2);
    QCOMPARE(drawing()->nodes.size(), std::size_t(7)); // the block is still closed

    const Node& fc = *workspace.document().model()->tryFind("linear");
    const int node = drawing()->nodeOfEntry.at(std::size_t(workspace.foldTree()->unitOf(fc.id)));
    const auto& style = pane.view().graphScene().canvas().style();
    QVERIFY(style.text(node).detail != QString::fromStdString(fc.target)); // as of another form
}

QTEST_MAIN(TestGraph)
#include "tst_ui_graph.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/module_net.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/graph/layout/expansion.h"
#include "ui/graph/layout/graph_layout.h"
#include "ui/session/search/finder.h"
#include "ui/session/text.h"

#include <QSettings>
#include <QStandardPaths>
#include <QtTest>

using namespace qs;

namespace {

/// "net.0" Conv, "net.1" ReLU and so on, after a pooling.
GraphPtr convsAndRelus(int pairs)
{
    ModuleNet net;
    ValueRef x = net.op("pool", "aten.adaptive_avg_pool2d.default", "torch.nn.Pool",
                        {{"self", net.input()}});
    for (int i = 0; i < pairs; ++i) {
        x = net.conv("net." + std::to_string(2 * i), x);
        x = net.relu("net." + std::to_string(2 * i + 1), x);
    }
    return net.finish(net.op("last", "aten.sigmoid.default", "torch.nn.Sigmoid", {{"self", x}}));
}

/// Attention and MLP with residual sums in the module around them; the first sum of the block
/// `odd` is a product.
GraphPtr residuals(int blocks, int odd)
{
    ModuleNet net;
    ValueRef x = net.conv("stem", net.input());
    for (int i = 0; i < blocks; ++i) {
        const std::string number = std::to_string(i);
        const ValueRef mixed = net.module("trunk.attention" + number, "aten.tanh.default", x);
        x = net.op("trunk", i == odd ? "aten.mul.Tensor" : "aten.add.Tensor", "Trunk",
                   {{"self", x}, {"other", mixed}});
        const ValueRef fed = net.module("trunk.mlp" + number, "aten.gelu.default", x);
        x = net.op("trunk", "aten.add.Tensor", "Trunk", {{"self", x}, {"other", fed}});
    }
    return net.finish(x);
}

class PairsEngine : public FakeEngine
{
public:
    PairsEngine() { model = convsAndRelus(6); }
};

} // namespace

/// Neighbours that come again together, as convolution and rectifier do, are one box.
class TestPeriods : public test::WindowTest<PairsEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }
    void cleanup() { m_window.reset(); }
    void pairsAreARun();
    void fusedPairsAreTheSameRun();
    void modulesThatAlternateAreARun();
    void operatorsBetweenBelongToTheBlocks();
    void operatorsBetweenMustBeTheSame();
    void shorterPeriodsGoFirst();
    void differentlyWiredBlocksAreNot();
    void windowFoldsAndUnfolds();
};

void TestPeriods::pairsAreARun()
{
    const GraphPtr graph = convsAndRelus(6);
    const auto tree = FoldTree::build(*graph, nullptr);
    const auto runs = runsOf(*graph, tree);
    QCOMPARE(runs.size(), std::size_t(1));
    QCOMPARE(toQString(runs[0].key), QStringLiteral("net.0–11 ×6"));
    QCOMPARE(runs[0].modules, std::size_t(2));
    QCOMPARE(runs[0].paths.size(), std::size_t(12));
    const auto grouped = groupedTree(*graph, tree, runs, {});
    const FoldEntry& box = grouped->entry(int(grouped->size()) - 1);
    QCOMPARE(toQString(box.label), QStringLiteral("net.0–11 ×6"));
    QCOMPARE(toQString(box.className), QStringLiteral("Conv2d·ReLU"));
    QCOMPARE(box.repeats, 6);
    QCOMPARE(box.units, 12);
    QCOMPARE(box.children.size(), std::size_t(12));
    QCOMPARE(grouped->nodesOf(int(grouped->size()) - 1).size(), std::size_t(12));
    QCOMPARE(keysOf(convsAndRelus(2)), QStringList()); // as easily read as the box
}

void TestPeriods::fusedPairsAreTheSameRun()
{
    const GraphPtr graph = convsAndRelus(6);
    const Plan plan = fusing(*graph);
    const auto fused = FoldTree::build(*graph, &plan);
    const auto plain = FoldTree::build(*graph, nullptr);
    const auto runs = runsOf(*graph, fused);
    QCOMPARE(runs, runsOf(*graph, plain));
    // A run of one form is the box of another.
    const auto grouped = groupedTree(*graph, fused, runs, {});
    QCOMPARE(toQString(grouped->entry(int(grouped->size()) - 1).label),
             QStringLiteral("net.0–11 ×6"));
    QCOMPARE(grouped->entry(int(grouped->size()) - 1).children.size(), std::size_t(6));
}

void TestPeriods::modulesThatAlternateAreARun()
{
    ModuleNet net;
    ValueRef x = net.conv("stem", net.input());
    for (int i = 0; i < 4; ++i) {
        x = net.module("trunk.attention" + std::to_string(i), "aten.tanh.default", x);
        x = net.module("trunk.mlp" + std::to_string(i), "aten.gelu.default", x);
    }
    const GraphPtr graph = net.finish(x);
    const auto tree = FoldTree::build(*graph, nullptr);
    const auto runs = runsOf(*graph, tree);
    QCOMPARE(keysOf(graph), QStringList {QStringLiteral("trunk.attention0–mlp3 ×4")});
    // A block that is open comes out, and the others stay.
    const auto grouped = groupedTree(*graph, tree, runs, {"trunk.attention0"});
    QCOMPARE(toQString(grouped->entry(int(grouped->size()) - 1).label),
             QStringLiteral("attention1–mlp3 ×3"));
}

/// `x = x + attention(x); x = x + mlp(x)` in the module around them.
void TestPeriods::operatorsBetweenBelongToTheBlocks()
{
    const GraphPtr graph = residuals(4, -1);
    const auto tree = FoldTree::build(*graph, nullptr);
    const auto runs = runsOf(*graph, tree);
    QCOMPARE(keysOf(graph), QStringList {QStringLiteral("trunk.attention0–mlp3 ×4")});
    QCOMPARE(runs[0].modules, std::size_t(2));
    QCOMPARE(runs[0].glue.size(), std::size_t(8));
    const auto grouped = groupedTree(*graph, tree, runs, {});
    const int box = int(grouped->size()) - 1;
    QCOMPARE(grouped->entry(box).children.size(), std::size_t(16));
    QCOMPARE(grouped->blocksOf(box).size(), std::size_t(4));
    for (const auto& block : grouped->blocksOf(box))
        QCOMPARE(block.size(), std::size_t(4));
    QCOMPARE(grouped->nodesOf(box).size(), std::size_t(24));
    // A block that is open comes out with its sums.
    const auto opened = groupedTree(*graph, tree, runs, {"trunk.mlp0"});
    const int rest = int(opened->size()) - 1;
    QCOMPARE(toQString(opened->entry(rest).label), QStringLiteral("attention1–mlp3 ×3"));
    QCOMPARE(opened->entry(rest).children.size(), std::size_t(12));
    QCOMPARE(opened->entry(tree->moduleEntry("trunk")).children.size(), std::size_t(5));
    // The layout draws them as one thing without a loop.
    const auto drawn = layoutGraph(graph, grouped, entriesOf(*grouped, {"trunk"}));
    QVERIFY(drawn);
    for (const auto& edge : (*drawn)->edges)
        QVERIFY(edge.fromEntry != edge.toEntry);

    // Convolutions with rectifiers of the module around them, fused or separate.
    ModuleNet net;
    ValueRef x = net.input();
    for (int i = 0; i < 5; ++i) {
        x = net.conv("stem.conv" + std::to_string(i), x);
        x = net.op("stem", "aten.relu.default", "Stem", {{"self", x}});
    }
    const GraphPtr convs = net.finish(x);
    const auto plain = FoldTree::build(*convs, nullptr);
    const Plan plan = fusing(*convs);
    const auto fused = FoldTree::build(*convs, &plan);
    QCOMPARE(keysOf(convs), QStringList {QStringLiteral("stem.conv0–4 ×5")});
    QCOMPARE(runsOf(*convs, fused), runsOf(*convs, plain));
    const auto apart = groupedTree(*convs, plain, runsOf(*convs, fused), {});
    QCOMPARE(apart->entry(int(apart->size()) - 1).children.size(), std::size_t(10));
    QCOMPARE(toQString(apart->entry(int(apart->size()) - 1).label), QStringLiteral("conv0–4 ×5"));
}

void TestPeriods::operatorsBetweenMustBeTheSame()
{
    // One block multiplies where the others add: those after it are still three.
    QCOMPARE(keysOf(residuals(6, 2)), QStringList {QStringLiteral("trunk.mlp2–attention5 ×3")});
    QCOMPARE(keysOf(residuals(4, 1)), QStringList());
    // Operators of a module alone are not blocks.
    ModuleNet net;
    ValueRef x = net.input();
    for (int i = 0; i < 8; ++i)
        x = net.op("stem", i % 2 ? "aten.relu.default" : "aten.tanh.default", "Stem",
                   {{"self", x}});
    QCOMPARE(keysOf(net.finish(x)), QStringList());
}

void TestPeriods::shorterPeriodsGoFirst()
{
    ModuleNet alike;
    ValueRef x = alike.input();
    for (int i = 0; i < 12; ++i)
        x = alike.conv("net." + std::to_string(i), x);
    QCOMPARE(keysOf(alike.finish(x)), QStringList()); // single operators, not pairs of them

    // A rectifier before the first convolution is not the begin of the blocks.
    ModuleNet shifted;
    ValueRef y = shifted.relu("net.0", shifted.input());
    for (int i = 0; i < 3; ++i) {
        y = shifted.conv("net." + std::to_string(2 * i + 1), y);
        y = shifted.relu("net." + std::to_string(2 * i + 2), y);
    }
    QCOMPARE(keysOf(shifted.finish(y)), QStringList {QStringLiteral("net.1–6 ×3")});
}

void TestPeriods::differentlyWiredBlocksAreNot()
{
    ModuleNet net;
    ValueRef x = net.input();
    for (int i = 0; i < 4; ++i) {
        const std::string path = "net." + std::to_string(2 * i);
        const ValueRef conv = net.conv(path, x);
        // Every other rectifier reads what the convolution reads.
        const ValueRef relu = net.relu("net." + std::to_string(2 * i + 1), i % 2 ? x : conv);
        x = i % 2 ? conv : relu;
    }
    QCOMPARE(keysOf(net.finish(x)), QStringList());
}

void TestPeriods::windowFoldsAndUnfolds()
{
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 800);
    m_window->show();
    m_window->openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(settled());
    const auto box = [this] {
        const GraphDrawing& drawing = *pane().view().graphScene().drawing();
        for (std::size_t i = 0; i < drawing.nodes.size(); ++i)
            if (drawing.tree->entry(drawing.nodes[i].entry).repeats > 0)
                return pane().view().graphScene().canvas().style().text(int(i)).title
                    + QLatin1Char('/')
                    + pane().view().graphScene().canvas().style().text(int(i)).detail;
        return QString();
    };
    pane().setExpanded({"", "net"});
    QTRY_VERIFY(settled());
    QCOMPARE(box(), QStringLiteral("net.0–11 ×6  Conv2d·ReLU/2 nodes each"));
    m_window->finder().setExpression(QStringLiteral("module:net.5"));
    QCOMPARE(m_window->finder().results().size(), std::size_t(1));
    m_window->actions()[ActionId::FindNext].trigger();
    QTRY_VERIFY(settled() && box().isEmpty()); // comes out
    m_window->actions()[ActionId::Collapse].trigger();
    QTRY_VERIFY(settled() && !box().isEmpty()); // the frame around it, not the module
}

QTEST_MAIN(TestPeriods)
#include "tst_ui_periods.moc"

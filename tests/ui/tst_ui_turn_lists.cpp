// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/module_net.h"
#include "tests/ui/window_test.h"
#include "ui/graph/layout/graph_layout.h"

#include <QRegularExpression>
#include <QSettings>
#include <QStandardPaths>
#include <QTreeView>
#include <QtTest>

using namespace qs;

namespace {

/// `for conv, act in zip(self.convs, self.acts)`, after a stem.
GraphPtr zipped(int pairs)
{
    ModuleNet net;
    ValueRef x = net.conv("stem", net.input());
    for (int i = 0; i < pairs; ++i) {
        x = net.conv("convs." + std::to_string(i), x);
        x = net.relu("acts." + std::to_string(i), x);
    }
    return net.finish(net.op("last", "aten.sigmoid.default", "torch.nn.Sigmoid", {{"self", x}}));
}

QStringList childrenOf(const FoldTree& tree, int entry)
{
    QStringList out;
    for (const int child : tree.entry(entry).children)
        out << toQString(tree.entry(child).path);
    return out;
}

} // namespace

/// Parts of lists that a module runs in turn are the blocks of one box.
class TestTurnLists : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }
    void cleanup() { m_window.reset(); }
    void zippedListsAreARun();
    void partsOfListsComeOutAlone();
    void listsRunInTurnWithOperators();
    void windowShowsZippedLists();
};

void TestTurnLists::zippedListsAreARun()
{
    const GraphPtr graph = zipped(6);
    const auto tree = FoldTree::build(*graph, nullptr);
    const auto runs = runsOf(*graph, tree);
    const QString key = QStringLiteral("convs.0–acts.5 ×6");
    QCOMPARE(keysOf(graph), QStringList {key});
    QCOMPARE(runs[0].modules, std::size_t(2));
    const auto grouped = groupedTree(*graph, tree, runs, {});
    const int box = int(grouped->size()) - 1;
    QCOMPARE(toQString(grouped->entry(box).label), key);
    QCOMPARE(toQString(grouped->entry(box).className), QStringLiteral("Conv2d·ReLU"));
    QCOMPARE(grouped->blocksOf(box).size(), std::size_t(6));
    QCOMPARE(grouped->nodesOf(box).size(), std::size_t(12));
    // The lists are in the box: neither is drawn beside it.
    const QStringList drawn = childrenOf(*grouped, FoldTree::kRoot);
    QCOMPARE(drawn.count(key), 1);
    QVERIFY(!drawn.contains(QStringLiteral("convs")) && !drawn.contains(QStringLiteral("acts")));
    for (const char* list : {"convs", "acts"})
        QCOMPARE(grouped->entry(tree->moduleEntry(list)).parent, box);
    const auto laid = layoutGraph(graph, grouped, {});
    QVERIFY(laid);
    QCOMPARE((*laid)->nodes.size(), std::size_t(5)); // input, stem, box, last, output
    QCOMPARE((*laid)->edges.size(), std::size_t(4));

    const Plan plan = fusing(*graph);
    const auto fused = FoldTree::build(*graph, &plan);
    QCOMPARE(runsOf(*graph, fused), runs);
    const auto units = groupedTree(*graph, fused, runs, {});
    QCOMPARE(units->entry(int(units->size()) - 1).children.size(), std::size_t(6));
    QCOMPARE(keysOf(zipped(2)), QStringList());
}

/// A block that is open stands in the module that runs the lists.
void TestTurnLists::partsOfListsComeOutAlone()
{
    ModuleNet net;
    ValueRef x = net.conv("stem", net.input());
    for (int i = 0; i < 5; ++i) {
        x = net.module("mixers." + std::to_string(i), "aten.tanh.default", x);
        x = net.module("feeds." + std::to_string(i), "aten.gelu.default", x);
    }
    x = net.module("feeds.5", "aten.sigmoid.default", x);
    const GraphPtr graph = net.finish(x);
    const auto tree = FoldTree::build(*graph, nullptr);
    const auto runs = runsOf(*graph, tree);
    QCOMPARE(keysOf(graph), QStringList {QStringLiteral("mixers.0–feeds.4 ×5")});
    const auto grouped = groupedTree(*graph, tree, runs, {"mixers.1"});
    const QStringList drawn = childrenOf(*grouped, FoldTree::kRoot);
    QCOMPARE(drawn.filter(QRegularExpression(QStringLiteral("mixers|feeds"))),
             QStringList({QStringLiteral("mixers.0"), QStringLiteral("feeds.0"),
                          QStringLiteral("mixers.1"), QStringLiteral("feeds.1"),
                          QStringLiteral("mixers.0–feeds.4 ×5"), QStringLiteral("feeds")}));
    QCOMPARE(childrenOf(*grouped, tree->moduleEntry("feeds")),
             QStringList {QStringLiteral("feeds.5")});
    const auto laid = layoutGraph(graph, grouped, {});
    QVERIFY(laid);
}

void TestTurnLists::listsRunInTurnWithOperators()
{
    ModuleNet net;
    ValueRef x = net.conv("stem", net.input());
    for (int i = 0; i < 4; ++i) {
        x = net.conv("convs." + std::to_string(i), x);
        x = net.op("", "aten.relu.default", "Net", {{"self", x}});
    }
    QCOMPARE(keysOf(net.finish(x)), QStringList {QStringLiteral("convs.0–3 ×4")});
    // An operator that is not in turn leaves the list's own blocks.
    ModuleNet odd;
    ValueRef y = odd.conv("stem", odd.input());
    for (int i = 0; i < 6; ++i) {
        y = odd.module("layers." + std::to_string(i), "aten.tanh.default", y);
        if (i == 2)
            y = odd.op("", "aten.relu.default", "Net", {{"self", y}});
    }
    QCOMPARE(keysOf(odd.finish(y)),
             QStringList({QStringLiteral("layers.0–2 ×3"), QStringLiteral("layers.3–5 ×3")}));
}

void TestTurnLists::windowShowsZippedLists()
{
    m_engine.model = zipped(6);
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 800);
    m_window->show();
    m_window->openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(settled());
    auto* rows = find<QTreeView>("moduleTree");
    const auto shown = [rows] {
        QStringList out;
        const QModelIndex root = rows->model()->index(0, 0);
        for (int row = 0; row < rows->model()->rowCount(root); ++row)
            out << rows->model()->index(row, 0, root).data().toString();
        return out.join(QLatin1Char(' '));
    };
    QTRY_VERIFY2(shown().contains(QStringLiteral("convs.0–acts.5 ×6")), qPrintable(shown()));
    QVERIFY2(!shown().contains(QStringLiteral("convs ")), qPrintable(shown()));
    // The row of the box speaks for a list that it holds.
    workspace().selectEntry(workspace().foldTree()->moduleEntry("convs"));
    QTRY_VERIFY(rows->currentIndex().data().toString().startsWith(QStringLiteral("convs.0")));
}

QTEST_MAIN(TestTurnLists)
#include "tst_ui_turn_lists.moc"

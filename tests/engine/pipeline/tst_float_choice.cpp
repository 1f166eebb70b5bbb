// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_edit.h"
#include "engine/pipeline/tune/float_choice.h"

#include <QtTest>

#include <algorithm>
#include <set>

using namespace qs;

namespace {

/// Three layers in a row; each site is what one of them reads.
struct Layers
{
    GraphPtr graph;
    Plan plan;
    Blame blame;
    std::vector<NodeId> ids;
    std::unordered_map<NodeId, std::int64_t> macs;

    explicit Layers(const std::vector<std::pair<double, std::int64_t>>& sharesAndMacs)
    {
        GraphEdit edit;
        Node input;
        input.kind = NodeKind::Input;
        input.name = "x";
        input.outputs.push_back({"x", {}});
        ValueRef at {edit.insert(std::move(input)), 0};
        for (const auto& [share, count] : sharesAndMacs) {
            Node layer;
            layer.name = "layer";
            layer.target = "aten.relu.default";
            layer.args = {{"self", at}};
            layer.outputs.push_back({"", {}});
            const NodeId id = edit.insert(std::move(layer));
            SiteBlame site;
            site.site.node = at.node;
            site.site.at = {id};
            site.site.readers = ReaderClass::Multiplies;
            site.share = site.expected = share;
            blame.sites.push_back(site);
            if (count > 0)
                macs[id] = count;
            ids.push_back(id);
            at = {id, 0};
        }
        Node output;
        output.kind = NodeKind::Output;
        output.name = "output";
        output.args = {{"", at}};
        edit.insert(std::move(output));
        graph = std::make_shared<const Graph>(edit.build());
        for (const NodePtr& node : graph->nodes()) {
            NodePlan decided;
            decided.node = node->id;
            decided.quantized = node->kind == NodeKind::Op;
            plan.nodes.push_back(decided);
        }
        std::stable_sort(blame.sites.begin(), blame.sites.end(),
                         [](const auto& a, const auto& b) { return a.share > b.share; });
    }
    FloatKnapsack knapsack() const { return {blame, *graph, plan, macs}; }
};

} // namespace

class TestFloatChoice : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// 0.5 for 80 multiplications, 0.4 for 10, 0.1 for none.
    void theBestRatioComesFirst()
    {
        const Layers layers({{0.5, 80}, {0.4, 10}, {0.1, 0}});
        const FloatChoice choice = layers.knapsack().choose(0.55, 1);
        QCOMPARE(choice.groups.size(), std::size_t(2));
        QCOMPARE(choice.groups[0].front(), layers.ids[2]);
        QCOMPARE(choice.groups[1].front(), layers.ids[1]);
        QVERIFY(std::abs(choice.noise - 0.5) < 1e-12);
        QVERIFY(std::abs(choice.floatMacs - 10.0 / 90) < 1e-12);
        QVERIFY(!choice.isBounded);
    }

    void theBoundOfMultiplicationsHolds()
    {
        const Layers layers({{0.5, 80}, {0.4, 10}, {0.1, 0}});
        const FloatChoice choice = layers.knapsack().choose(0, 0.2);
        QCOMPARE(choice.groups.size(), std::size_t(2));
        QVERIFY(choice.isBounded);
        QVERIFY(choice.floatMacs <= 0.2);
    }

    void whatIsFreeCostsNothing()
    {
        const Layers layers({{0.5, 80}, {0.4, 10}, {0.1, 0}, {0.001, 0}});
        const FloatChoice choice = layers.knapsack().freeOnes();
        QCOMPARE(choice.floatMacs, 0.0);
        QCOMPARE(choice.groups.front().front(), layers.ids[2]);
    }

    /// By ratio the small one comes first, and then neither of the others fits with it.
    void groupsAreExchanged()
    {
        const Layers layers({{0.5, 50}, {0.3, 20}, {0.2, 30}});
        const FloatChoice choice = layers.knapsack().choose(0, 0.5);
        QVERIFY(std::abs(choice.noise - 0.5) < 1e-12);
        QVERIFY(choice.floatMacs <= 0.5);
        const Layers one({{0.45, 45}, {0.3, 20}, {0.25, 35}});
        const FloatChoice better = one.knapsack().choose(0, 0.45); // 0.3 alone by ratio
        QVERIFY2(std::abs(better.noise - 0.55) < 1e-12, qPrintable(QString::number(better.noise)));
        QCOMPARE(better.groups.front().front(), one.ids[0]);
    }

    /// What would bring less noise, and the bound does not let in: the best for its multiplications
    /// first. What costs nothing is not among it.
    void whatTheBoundBarsIsListed()
    {
        const Layers layers({{0.5, 40}, {0.3, 20}, {0.1, 40}, {0.05, 0}});
        const auto barred = layers.knapsack().barredBy(0.2, 0.3);
        QCOMPARE(barred.size(), std::size_t(1)); // 0.3 for 20 fits; 0.5 for 40 is wanted as well
        QCOMPARE(barred[0].operators, std::vector<NodeId> {layers.ids[0]});
        QVERIFY(std::abs(barred[0].share - 0.5) < 1e-12);
        QVERIFY(std::abs(barred[0].macs - 0.4) < 1e-12);
        const auto all = layers.knapsack().barredBy(0, 0);
        QCOMPARE(all.size(), std::size_t(3));
        QCOMPARE(all[0].operators.front(), layers.ids[1]);
        QCOMPARE(all[1].operators.front(), layers.ids[0]);
        QCOMPARE(all[2].operators.front(), layers.ids[2]);
        QVERIFY(layers.knapsack().barredBy(0.2, 1).empty());
    }

    /// A value that two layers read, and their weights: the two are one cure.
    void operatorsThatGoTogetherAreOneCure()
    {
        Layers layers({{0.5, 40}, {0.3, 20}});
        SiteBlame both = layers.blame.sites[0];
        both.site.at = layers.ids;
        both.expected = both.share = 0.2;
        layers.blame.sites.push_back(both);
        const auto barred = layers.knapsack().barredBy(0, 0);
        QCOMPARE(barred.size(), std::size_t(1));
        QCOMPARE(barred[0].operators.size(), std::size_t(2));
        QVERIFY(std::abs(barred[0].share - 1) < 1e-12);
        QVERIFY(std::abs(barred[0].macs - 1) < 1e-12);
    }

    /// A sum is reshaped and then read by a layer that is float already: what keeps it quantized is
    /// the sum and what moves it.
    void movedValuesAreFreed()
    {
        Layers layers({{0.2, 0}, {0.7, 0}, {0.1, 80}});
        GraphEdit edit(*layers.graph);
        edit.change(layers.ids[1]).target = "aten.reshape.default";
        layers.graph = std::make_shared<const Graph>(edit.build());
        const auto decided = [&](std::size_t i) -> NodePlan& {
            return *std::find_if(layers.plan.nodes.begin(), layers.plan.nodes.end(),
                                 [&](const NodePlan& one) { return one.node == layers.ids[i]; });
        };
        // An integer layer that reads it rounds it again, so that layer must be float too.
        QCOMPARE(layers.knapsack().choose(0.5, 1).floatMacs, 1.0);
        decided(2).quantized = false;
        const FloatChoice choice = layers.knapsack().freeOnes();
        QCOMPARE(choice.floatMacs, 0.0);
        std::set<NodeId> taken;
        for (const auto& group : choice.groups)
            taken.insert(group.begin(), group.end());
        QVERIFY(taken.contains(layers.ids[0]) && taken.contains(layers.ids[1]));
        QVERIFY(choice.noise < 0.11);
    }

    void enoughIsEnough()
    {
        const Layers layers({{0.5, 80}, {0.4, 10}});
        QVERIFY(layers.knapsack().choose(1, 1).groups.empty());
    }
};

QTEST_GUILESS_MAIN(TestFloatChoice)
#include "tst_float_choice.moc"

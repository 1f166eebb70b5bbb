// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/sweep_schedule.h"
#include "engine/graph/graph_edit.h"

#include <QtTest/QtTest>

#include <set>

using namespace qs;

namespace {

Node op(const std::string& name, const std::vector<ValueRef>& refs)
{
    Node node;
    node.name = name;
    node.target = "aten.relu.default";
    for (std::size_t i = 0; i < refs.size(); ++i)
        node.args.push_back({"a" + std::to_string(i), refs[i]});
    ValueType type;
    type.dtype = DType::Float32;
    node.outputs.push_back({"", type});
    return node;
}

/// x -> f0 -> f1 -> ... -> output, and for every third operator a branch that joins two steps
/// later.
GraphPtr chain(int length)
{
    GraphEdit edit;
    Node input;
    input.kind = NodeKind::Input;
    input.name = "x";
    input.outputs.push_back({"", {}});
    std::vector<ValueRef> made {{edit.insert(input), 0}};
    for (int i = 0; i < length; ++i) {
        std::vector<ValueRef> reads {made.back()};
        if (i % 3 == 2)
            reads.push_back(made[made.size() - 3]);
        made.push_back({edit.insert(op("f" + std::to_string(i), reads)), 0});
    }
    Node out;
    out.kind = NodeKind::Output;
    out.name = "output";
    out.args.push_back({"", Argument::List {made.back()}});
    edit.insert(out);
    return std::make_shared<const Graph>(edit.build());
}

/// The same graph on both sides; units of two operators each, as a fusion has.
std::vector<CompareUnit> pairs(const Graph& graph)
{
    std::vector<CompareUnit> units;
    const auto nodes = graph.nodes();
    for (std::size_t i = 1; i + 2 < nodes.size(); i += 2) {
        CompareUnit unit;
        unit.members = {nodes[i]->id, nodes[i + 1]->id};
        unit.last = unit.members.back();
        const ValueRef in = *nodes[i]->args.at(0).value.asRef();
        unit.inputs.push_back({in, in, in, in});
        unit.outputs.push_back({{unit.last, 0}, {unit.last, 0}});
        units.push_back(unit);
    }
    return units;
}

/// Runs the schedule on sets of names and returns the most values alive at once on either side.
std::size_t mostAlive(const Graph& graph, const std::vector<CompareUnit>& units,
                      const SweepSchedule& schedule)
{
    std::set<ValueRef> floatAlive, referenceAlive;
    std::size_t most = 0, at = 0;
    const auto runNode = [&](const Node& node, std::set<ValueRef>& alive) {
        for (const auto& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (!alive.contains(ref))
                    qFatal("%s reads a value that was freed", node.name.c_str());
            });
        if (node.kind != NodeKind::Output)
            alive.insert({node.id, 0});
    };
    for (std::size_t p = 0; p < graph.nodes().size(); ++p) {
        runNode(*graph.nodes()[p], floatAlive);
        for (; at < schedule.referenceEnd[p]; ++at)
            runNode(*graph.nodes()[at], referenceAlive);
        for (const std::size_t u : schedule.unitsAt[p]) {
            const bool there = floatAlive.contains(units[u].inputs[0].value)
                && referenceAlive.contains(units[u].inputs[0].came)
                && referenceAlive.contains(units[u].outputs[0].reference);
            if (!there)
                qFatal("unit %zu is measured without its values", u);
        }
        most = std::max({most, floatAlive.size(), referenceAlive.size()});
        for (const ValueRef ref : schedule.freeFloat[p])
            floatAlive.erase(ref);
        for (const ValueRef ref : schedule.freeReference[p])
            referenceAlive.erase(ref);
    }
    return most;
}

} // namespace

class TestSweepSchedule : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyUnitIsMeasuredOnce()
    {
        const GraphPtr graph = chain(20);
        const auto units = pairs(*graph);
        const SweepSchedule schedule = scheduleSweep(*graph, *graph, units);
        std::multiset<std::size_t> measured;
        for (const auto& list : schedule.unitsAt)
            measured.insert(list.begin(), list.end());
        QCOMPARE(measured.size(), units.size());
        QCOMPARE(schedule.referenceEnd.back(), graph->nodes().size());
    }

    void memoryDoesNotGrowWithLayers()
    {
        std::vector<std::size_t> most;
        for (const int length : {12, 120, 1200}) {
            const GraphPtr graph = chain(length);
            const auto units = pairs(*graph);
            most.push_back(mostAlive(*graph, units, scheduleSweep(*graph, *graph, units)));
        }
        QVERIFY(most[0] <= 6);
        QCOMPARE(most[1], most[0]);
        QCOMPARE(most[2], most[0]);
    }
};

QTEST_GUILESS_MAIN(TestSweepSchedule)
#include "tst_sweep_schedule.moc"

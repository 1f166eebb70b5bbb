// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/sweep_schedule.h"

#include <algorithm>
#include <unordered_map>

namespace qs {

namespace {

/// The step after which each value may go.
using LastNeed = std::unordered_map<ValueRef, std::size_t>;

void need(LastNeed& last, ValueRef value, std::size_t step)
{
    auto& at = last[value];
    at = std::max(at, step);
}

void fillReferenceEnd(SweepSchedule& schedule, const Graph& floatGraph, const Graph& reference,
                      const std::vector<CompareUnit>& units)
{
    const std::size_t steps = floatGraph.nodes().size();
    schedule.referenceEnd.assign(steps, 0);
    schedule.unitsAt.assign(steps, {});
    for (std::size_t u = 0; u < units.size(); ++u) {
        const std::size_t step = floatGraph.position(units[u].last);
        schedule.unitsAt[step].push_back(u);
        const auto reach = [&](ValueRef value) {
            auto& end = schedule.referenceEnd[step];
            end = std::max(end, reference.position(value.node) + 1);
        };
        for (const UnitOutput& output : units[u].outputs)
            reach(output.reference);
        for (const UnitInput& input : units[u].inputs)
            reach(input.came);
    }
    for (std::size_t p = 1; p < steps; ++p)
        schedule.referenceEnd[p] = std::max(schedule.referenceEnd[p], schedule.referenceEnd[p - 1]);
    schedule.referenceEnd.back() = reference.nodes().size();
}

/// Reads by nodes of one graph; `stepOf` gives the step in which the node at a position runs.
/// Values that the Output node reads stay to the end.
template<class StepOf>
void addReads(LastNeed& last, const Graph& graph, const StepOf& stepOf, std::size_t lastStep)
{
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = *graph.nodes()[i];
        const bool isOutput = node.kind == NodeKind::Output;
        const std::size_t step = isOutput ? lastStep : stepOf(i);
        for (std::uint32_t k = 0; k < node.outputs.size(); ++k)
            need(last, {node.id, k}, step);
        for (const auto& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) { need(last, ref, step); });
    }
}

std::vector<std::vector<ValueRef>> byStep(const LastNeed& last, std::size_t steps)
{
    std::vector<std::vector<ValueRef>> lists(steps);
    for (const auto& [value, step] : last)
        if (step + 1 < steps)
            lists[step].push_back(value);
    return lists;
}

} // namespace

SweepSchedule scheduleSweep(const Graph& floatGraph, const Graph& reference,
                            const std::vector<CompareUnit>& units)
{
    SweepSchedule schedule;
    fillReferenceEnd(schedule, floatGraph, reference, units);
    const std::size_t steps = floatGraph.nodes().size();
    const auto& ends = schedule.referenceEnd;
    LastNeed floatNeed, referenceNeed;
    addReads(
        floatNeed, floatGraph, [](std::size_t position) { return position; }, steps - 1);
    addReads(
        referenceNeed, reference,
        [&](std::size_t position) {
            const auto it = std::upper_bound(ends.begin(), ends.end(), position);
            return std::size_t(it - ends.begin());
        },
        steps - 1);
    for (const CompareUnit& unit : units) {
        const std::size_t step = floatGraph.position(unit.last);
        for (const UnitInput& input : unit.inputs) {
            need(floatNeed, input.value, step);
            need(referenceNeed, input.came, step);
        }
        for (const UnitOutput& output : unit.outputs) {
            need(floatNeed, output.value, step);
            need(referenceNeed, output.reference, step);
        }
    }
    schedule.freeFloat = byStep(floatNeed, steps);
    schedule.freeReference = byStep(referenceNeed, steps);
    return schedule;
}

} // namespace qs

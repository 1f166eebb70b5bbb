// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/unit_latency.h"

#include "engine/graph/code/code_statements.h"
#include "engine/plan/summaries/group_root.h"

#include <map>

namespace qs {

namespace {

void addSeconds(std::optional<double>& sum, std::optional<double> seconds)
{
    if (seconds)
        sum = sum.value_or(0) + *seconds;
}

} // namespace

std::optional<double> UnitLatency::convertedSeconds() const
{
    std::optional<double> sum = int8Seconds;
    addSeconds(sum, conversionSeconds);
    return sum;
}

std::vector<UnitLatency> unitLatencies(const ConvertedModel& converted,
                                       std::span<const NodeTime> floatTimes,
                                       std::span<const NodeTime> loweredTimes)
{
    const Graph& model = *converted.prepared->model;
    const Plan& plan = *converted.prepared->plan;
    std::map<NodeId, UnitLatency> units;
    const auto unitOf = [&](NodeId node) -> UnitLatency& {
        const NodeId end = model.tryGet(node) ? unitEnd(model, plan, node) : NodeId();
        UnitLatency& unit = units[end];
        unit.node = end;
        return unit;
    };
    for (const NodeTime& time : floatTimes)
        addSeconds(unitOf(time.node).floatSeconds, time.seconds);
    for (const NodeTime& time : loweredTimes)
        if (const Node* node = converted.lowered->tryGet(time.node)) {
            UnitLatency& unit = unitOf(floatNodeOf(*node));
            addSeconds(isQuantizing(*node) ? unit.conversionSeconds : unit.int8Seconds,
                       time.seconds);
        }
    std::vector<UnitLatency> out;
    for (const auto& [end, unit] : units)
        out.push_back(unit);
    return out;
}

UnitLatency wholeLatency(std::span<const UnitLatency> units)
{
    UnitLatency whole;
    for (const UnitLatency& unit : units) {
        addSeconds(whole.floatSeconds, unit.floatSeconds);
        addSeconds(whole.int8Seconds, unit.int8Seconds);
        addSeconds(whole.conversionSeconds, unit.conversionSeconds);
    }
    return whole;
}

} // namespace qs

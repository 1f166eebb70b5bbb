// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/comparison.h"

#include <algorithm>

namespace qs {

const NodeError* Comparison::tryGet(NodeId id) const
{
    const auto it = std::find_if(nodes.begin(), nodes.end(),
                                 [&](const NodeError& error) { return error.node == id; });
    return it == nodes.end() ? nullptr : &*it;
}

StepCounts Comparison::departed() const
{
    StepCounts all;
    for (const FormDeparture& departure : departures)
        all.add(departure.steps);
    return all;
}

NodeId Comparison::parting() const
{
    const auto it = std::find_if(departures.begin(), departures.end(),
                                 [](const FormDeparture& d) { return d.steps.largest > 1; });
    return it == departures.end() ? NodeId {} : it->node;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/effects.h"

#include "engine/graph/graph.h"
#include "engine/graph/operators/state.h"

#include <algorithm>

namespace qs {

bool hasEffect(const Node& node)
{
    if (node.target == kRaiseTarget || isStateUpdate(node))
        return true;
    return std::any_of(node.subgraphs.begin(), node.subgraphs.end(), [](const auto& graph) {
        return std::any_of(graph->nodes().begin(), graph->nodes().end(),
                           [](const auto& inner) { return hasEffect(*inner); });
    });
}

bool isInTraining(const Node& node)
{
    const auto isTrue = [&](const char* name) {
        const Argument* argument = node.tryArg(name);
        return argument && argument->asBool() && *argument->asBool();
    };
    return isTrue("train") || isTrue("training");
}

} // namespace qs

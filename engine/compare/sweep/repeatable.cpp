// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/repeatable.h"

#include "engine/execute/random/random_draws.h"
#include "engine/graph/operators/state.h"

#include <algorithm>

namespace qs {

bool isRepeatable(const Graph& graph)
{
    const auto nodes = graph.nodes();
    return std::none_of(nodes.begin(), nodes.end(), [](const NodePtr& node) {
        return isStateUpdate(*node) || drawsNumbers(*node)
            || std::any_of(node->subgraphs.begin(), node->subgraphs.end(),
                           [](const auto& body) { return !isRepeatable(*body); });
    });
}

} // namespace qs

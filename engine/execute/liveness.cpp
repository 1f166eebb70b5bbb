// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/liveness.h"

namespace qs {

std::vector<std::vector<ValueRef>> lastUses(const Graph& graph)
{
    const auto nodes = graph.nodes();
    std::vector<std::vector<ValueRef>> dead(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (std::uint32_t k = 0; k < nodes[i]->outputs.size(); ++k) {
            const ValueRef ref {nodes[i]->id, k};
            std::size_t last = i;
            bool returned = false;
            for (const Use& use : graph.users(ref)) {
                last = std::max(last, graph.position(use.node));
                returned = returned || graph.get(use.node).kind == NodeKind::Output;
            }
            if (!returned)
                dead[last].push_back(ref);
        }
    }
    return dead;
}

} // namespace qs

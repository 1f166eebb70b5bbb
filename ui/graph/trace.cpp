// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/trace.h"

namespace qs {

std::unordered_set<NodeId> tracedNodes(const Graph& graph, const std::vector<NodeId>& from,
                                       bool after)
{
    std::unordered_set<NodeId> found(from.begin(), from.end());
    std::vector<NodeId> open = from;
    const auto reach = [&](NodeId id) {
        if (found.insert(id).second)
            open.push_back(id);
    };
    while (!open.empty()) {
        const Node& node = graph.get(open.back());
        open.pop_back();
        if (after) {
            for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
                for (const Use& use : graph.users({node.id, i}))
                    reach(use.node);
        } else {
            for (const auto& arg : node.args)
                forEachRef(arg.value, [&](ValueRef ref) { reach(ref.node); });
        }
    }
    return found;
}

} // namespace qs

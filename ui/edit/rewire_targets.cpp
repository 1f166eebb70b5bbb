// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/rewire_targets.h"

#include <algorithm>

namespace qs {

std::optional<ValueRef> valueOfEntry(const Graph& graph, const FoldTree& tree, int entry)
{
    const std::vector<NodeId> nodes = tree.nodesOf(entry);
    const std::unordered_set<NodeId> inside(nodes.begin(), nodes.end());
    std::vector<ValueRef> given;
    std::optional<ValueRef> last;
    for (const NodeId id : nodes) {
        const Node* node = graph.tryGet(id);
        if (!node || node->outputs.empty())
            continue;
        last = ValueRef {id, 0};
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i) {
            const auto users = graph.users({id, i});
            if (std::any_of(users.begin(), users.end(),
                            [&](const Use& use) { return !inside.contains(use.node); }))
                given.push_back({id, i});
        }
    }
    if (given.empty())
        return last;
    return given.size() == 1 ? std::optional(given.front()) : std::nullopt;
}

std::vector<Edge> readingsOf(const Graph& graph, const FoldTree& tree, int entry)
{
    const std::vector<NodeId> nodes = tree.nodesOf(entry);
    const std::unordered_set<NodeId> inside(nodes.begin(), nodes.end());
    std::vector<Edge> out;
    for (const NodeId id : nodes) {
        const Node* node = graph.tryGet(id);
        for (std::uint32_t a = 0; node && a < node->args.size(); ++a)
            forEachRef(node->args[a].value, [&](ValueRef ref) {
                if (!inside.contains(ref.node) && tree.unitOf(ref.node) >= 0)
                    out.push_back({ref, {id, a}});
            });
    }
    return out;
}

std::unordered_set<NodeId> behind(const Graph& graph, NodeId node)
{
    std::unordered_set<NodeId> seen {node};
    std::vector<NodeId> open {node};
    while (!open.empty()) {
        const Node* at = graph.tryGet(open.back());
        open.pop_back();
        for (std::uint32_t i = 0; at && i < at->outputs.size(); ++i)
            for (const Use& use : graph.users({at->id, i}))
                if (seen.insert(use.node).second)
                    open.push_back(use.node);
    }
    return seen;
}

bool mayRead(const Graph& graph, const Edge& reading, ValueRef other,
             const std::unordered_set<NodeId>& behindReader)
{
    if (other == reading.value || behindReader.contains(other.node))
        return false;
    const ValueType& now = graph.value(reading.value).type;
    const ValueType& then = graph.value(other).type;
    return now.kind == then.kind && now.mayBeFloat() == then.mayBeFloat();
}

} // namespace qs

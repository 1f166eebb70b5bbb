// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/stored_inside.h"

#include "engine/base/text.h"

#include <algorithm>

namespace qs {

namespace {

class StoredFinder
{
public:
    StoredFinder(const Graph& graph, const FoldTree& tree)
        : m_graph(graph)
        , m_tree(tree)
    {
    }

    void addRead(ValueRef ref, const std::string& name)
    {
        if (m_tree.unitOf(ref.node) >= 0)
            return;
        const Node& node = m_graph.get(ref.node);
        if (node.isStored()) {
            const bool known = std::any_of(found.begin(), found.end(),
                                           [&](const StoredValue& v) { return v.node == node.id; });
            if (!known)
                found.push_back({name, node.id});
            return;
        }
        for (const auto& arg : node.args)
            forEachRef(arg.value, [this](ValueRef from) {
                addRead(from, lastPart(m_graph.get(from.node).target));
            });
    }

    std::vector<StoredValue> found;

private:
    const Graph& m_graph;
    const FoldTree& m_tree;
};

} // namespace

std::vector<StoredValue> storedInside(const Graph& graph, const FoldTree& tree,
                                      std::span<const NodeId> members)
{
    StoredFinder finder(graph, tree);
    for (const NodeId id : members) {
        const Node* node = graph.tryGet(id);
        if (!node)
            continue;
        // In a fusion, parameters of all members but the first are named with their module.
        const std::string module = lastPart(node->scope.path);
        const bool named = id != members.front() && !module.empty();
        for (const auto& arg : node->args)
            forEachRef(arg.value, [&](ValueRef ref) {
                finder.addRead(ref, named ? module + "." + arg.name : arg.name);
            });
    }
    return std::move(finder.found);
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/node_by_name.h"

#include <algorithm>

namespace qs {

namespace {

/// Returns the node itself, or for a parameter or constant the first drawn node that uses it.
NodeId drawnFor(const Graph& graph, const FoldTree& tree, const Node& node)
{
    if (tree.unitOf(node.id) >= 0)
        return node.id;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        for (const Use& use : graph.users({node.id, i}))
            if (use.node != node.id)
                if (const NodeId drawn = drawnFor(graph, tree, graph.get(use.node)))
                    return drawn;
    return {};
}

bool holdsName(const Graph& graph, std::string_view name)
{
    return graph.tryFind(name)
        || std::any_of(graph.nodes().begin(), graph.nodes().end(), [name](const NodePtr& node) {
               return std::any_of(node->subgraphs.begin(), node->subgraphs.end(),
                                  [name](const auto& body) { return holdsName(*body, name); });
           });
}

} // namespace

NodeId drawnNodeNamed(const Graph& graph, const FoldTree& tree, std::string_view name)
{
    if (const Node* node = graph.tryFind(name))
        return drawnFor(graph, tree, *node);
    for (const NodePtr& node : graph.nodes()) {
        const auto isNamed = [name](const auto& value) { return value.name == name; };
        if (std::any_of(node->outputs.begin(), node->outputs.end(), isNamed))
            return drawnFor(graph, tree, *node);
    }
    for (const NodePtr& node : graph.nodes())
        for (const auto& body : node->subgraphs)
            if (holdsName(*body, name))
                return drawnFor(graph, tree, *node);
    return {};
}

} // namespace qs

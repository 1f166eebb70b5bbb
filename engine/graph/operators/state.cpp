// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/state.h"

#include "engine/graph/graph_edit.h"

#include <algorithm>

namespace qs {

bool isStateUpdate(const Node& node)
{
    return node.isOp(kSetStateTarget) && node.args.size() == 2 && node.args[0].value.asString()
        && node.args[1].value.asRef();
}

Node makeStateUpdate(const Node& holder, ValueRef value, const ValueType& type)
{
    Node node;
    node.name = holder.name + "_next";
    node.target = kSetStateTarget;
    node.args = {{"holder", holder.name}, {"value", value}};
    node.outputs.push_back({"", type});
    node.scope = holder.scope;
    node.opaqueReason = "keeps the new value of '" + holder.target + "' for the next call";
    return node;
}

std::vector<StateUpdate> stateUpdates(const Graph& graph)
{
    std::vector<StateUpdate> found;
    for (const NodePtr& node : graph.nodes())
        if (isStateUpdate(*node))
            if (const Node* holder = graph.tryFind(*node->args[0].value.asString()))
                found.push_back({node->id, holder->id, *node->args[1].value.asRef()});
    return found;
}

Graph withoutStateUpdates(const Graph& graph)
{
    const auto nodes = graph.nodes();
    if (std::none_of(nodes.begin(), nodes.end(),
                     [](const NodePtr& node) { return isStateUpdate(*node); }))
        return graph;
    GraphEdit edit(graph);
    for (const NodePtr& node : graph.nodes())
        if (isStateUpdate(*node)) {
            edit.replaceUses({node->id, 0}, *node->args[1].value.asRef());
            edit.erase(node->id);
        }
    return edit.build();
}

} // namespace qs

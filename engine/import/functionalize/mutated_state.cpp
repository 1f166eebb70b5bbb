// SPDX-License-Identifier: Apache-2.0
#include "engine/import/functionalize/mutated_state.h"

#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/state.h"
#include "engine/import/functionalize/alias_analysis.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

/// True for buffers and inputs, whose content the caller or the next call sees. A model in use
/// never writes to weights and constants.
bool holdsState(const Node& node)
{
    const bool holder
        = node.kind == NodeKind::Input || (node.kind == NodeKind::Parameter && node.isBuffer);
    return holder && !node.outputs.empty() && node.outputs[0].type.kind == ValueKind::Tensor;
}

} // namespace

Graph withMutatedState(const Graph& graph)
{
    if (!hasWrites(graph))
        return graph;
    std::unordered_set<NodeId> changed;
    forEachWrite(graph, [&](const Node& writer, const std::vector<ValueRef>& values) {
        if (!writesValues(writer))
            return;
        for (const ValueRef& value : values)
            if (holdsState(graph.get(value.node)))
                changed.insert(value.node);
    });
    // A script may have assigned another tensor to the attribute.
    const std::vector<StateUpdate> set = stateUpdates(graph);
    const auto isSet = [&](NodeId id) {
        return std::any_of(set.begin(), set.end(),
                           [&](const StateUpdate& update) { return update.holder == id; });
    };
    GraphEdit edit(graph);
    std::unordered_map<TensorId, NodeId> holders; // the first of several names of one tensor
    for (const NodePtr& node : graph.nodes()) {
        if (!changed.contains(node->id) || isSet(node->id))
            continue;
        const NodeId holder
            = node->tensor ? holders.try_emplace(node->tensor, node->id).first->second : node->id;
        if (holder != node->id)
            edit.replaceUses({node->id, 0}, {holder, 0});
        edit.insert(makeStateUpdate(*node, {holder, 0}, node->outputs[0].type));
    }
    return edit.build();
}

Graph withoutIdleUpdates(const Graph& graph)
{
    const std::vector<StateUpdate> updates = stateUpdates(graph);
    if (updates.empty())
        return graph;
    GraphEdit edit(graph);
    for (const StateUpdate& update : updates)
        if (update.value.node == update.holder && edit.users({update.node, 0}).empty())
            edit.erase(update.node);
    return edit.build();
}

} // namespace qs

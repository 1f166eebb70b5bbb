// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/constant_folding.h"

#include "engine/execute/op_table.h"
#include "engine/graph/state.h"

#include <unordered_set>

namespace qs {

namespace {

bool mayFold(const Node& node, const NodeCall& call)
{
    if (node.kind != NodeKind::Op || isStateUpdate(node) || !node.opaqueReason.empty()
        || !call.problem.empty())
        return false;
    return node.subgraphs.empty()
        && (!call.op || (!mutatesArguments(call.op->schema()) && !isRandom(*call.op)));
}

} // namespace

std::vector<bool> findConstantNodes(const Graph& graph, const std::vector<NodeCall>& calls)
{
    const auto nodes = graph.nodes();
    std::vector<bool> constant(nodes.size());
    std::unordered_set<NodeId> changing;
    for (const StateUpdate& update : stateUpdates(graph))
        changing.insert(update.holder);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = *nodes[i];
        if (node.kind == NodeKind::Parameter || node.kind == NodeKind::Constant) {
            constant[i] = !changing.contains(node.id);
            continue;
        }
        if (!mayFold(node, calls[i]))
            continue;
        bool any = false, all = true;
        for (const auto& arg : node.args)
            forEachRef(arg.value, [&](ValueRef ref) {
                any = true;
                all = all && constant[graph.position(ref.node)];
            });
        constant[i] = any && all;
    }
    return constant;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/constant_folding.h"

#include "engine/execute/op_table.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/state.h"

#include <algorithm>
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

/// Whether a node makes a number. Without inputs, its value is worth keeping, unlike a whole
/// tensor.
bool makesNumber(const Node& node)
{
    if (node.outputs.empty())
        return false;
    return node.target == kScalarTensorTarget
        || std::all_of(node.outputs.begin(), node.outputs.end(), [](const Value& value) {
               const ValueKind kind = value.type.kind;
               return kind == ValueKind::SymInt || kind == ValueKind::SymFloat
                   || kind == ValueKind::SymBool;
           });
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
        if (node.isStored()) {
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
        constant[i] = all && (any || makesNumber(node));
    }
    return constant;
}

std::vector<bool> findReadByOthers(const Graph& graph, const std::vector<bool>& constant)
{
    std::vector<bool> read(constant.size());
    for (std::size_t i = 0; i < constant.size(); ++i)
        if (!constant[i])
            for (const auto& arg : graph.nodes()[i]->args)
                forEachRef(arg.value, [&](ValueRef ref) { read[graph.position(ref.node)] = true; });
    return read;
}

} // namespace qs

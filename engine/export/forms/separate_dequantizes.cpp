// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/separate_dequantizes.h"

#include "engine/base/memory/free_later.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>

namespace qs {

namespace {

/// Copies a node to the position just before its reader, with a new name; returns the copy's id.
NodeId copyFor(GraphEdit& edit, NodeId original, NodeId reader)
{
    Node copy = edit.get(original);
    copy.id = {};
    return edit.insert(std::move(copy), reader);
}

bool isLinear(const Node& node)
{
    return node.isOp(kLinearTarget);
}

/// Whether several linear layers and another node read a value of more than two dimensions.
/// Inductor joins equal dequantizes again, flattens the layers' input to rows once for all of them,
/// and then duplicates either the rows or the dequantize, not both: none of these layers becomes an
/// int8 kernel.
bool layersShareWithOthers(const GraphEdit& edit, NodeId dequantize)
{
    const ValueType& type = edit.get(dequantize).outputs.at(0).type;
    if (!type.shapeKnown || type.shape.size() <= 2)
        return false;
    std::unordered_set<NodeId> layers;
    bool others = false;
    for (const Use& use : edit.users({dequantize, 0})) {
        if (isLinear(edit.get(use.node)))
            layers.insert(use.node);
        else
            others = true;
    }
    return others && layers.size() > 1;
}

/// Sets `out_dtype` to float, which is the default, so that compilers do not join this dequantize
/// with the others.
void keepApart(GraphEdit& edit, NodeId dequantize)
{
    constexpr std::string_view kResult = "out_dtype";
    std::vector<NamedArgument> args = edit.get(dequantize).args;
    if (std::ranges::find(args, kResult, &NamedArgument::name) != args.end())
        return;
    args.push_back({std::string(kResult), DType::Float32});
    edit.setArgs(dequantize, std::move(args));
}

void separateReaders(GraphEdit& edit, NodeId dequantize)
{
    const ValueRef shared {dequantize, 0};
    const bool apart = layersShareWithOthers(edit, dequantize);
    ValueRef own = shared;
    NodeId owner; // the uses of one reader are consecutive
    std::vector<NodeId> forOthers;
    for (const Use& use : edit.users(shared)) {
        if (owner && use.node != owner)
            own = {copyFor(edit, dequantize, use.node), 0};
        if (apart && use.node != owner && !isLinear(edit.get(use.node)))
            forOthers.push_back(own.node);
        owner = use.node;
        if (own != shared)
            edit.replaceArgument(use.node, use.argument, shared, own);
    }
    for (const NodeId id : forOthers)
        keepApart(edit, id);
}

} // namespace

Result<Graph> separateDequantizes(const Graph& graph, const JobContext& job)
{
    const auto draft = makeFreedLater<GraphEdit>(graph);
    for (const NodePtr& node : graph.nodes()) {
        QS_CHECK(job.check());
        if (node->kind == NodeKind::Op && isDequantizeStep(node->target))
            separateReaders(*draft, node->id);
    }
    return draft->build();
}

} // namespace qs

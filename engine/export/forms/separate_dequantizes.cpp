// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/separate_dequantizes.h"

#include "engine/graph/graph_edit.h"

namespace qs {

namespace {

constexpr std::string_view kDequantize = "quantized_decomposed.dequantize_";

/// A copy of the node, just before its reader, under a name and an id of its own.
NodeId copyFor(GraphEdit& edit, NodeId original, NodeId reader)
{
    Node copy = edit.get(original);
    copy.id = {};
    return edit.insert(std::move(copy), reader);
}

void separateReaders(GraphEdit& edit, NodeId dequantize)
{
    const ValueRef shared {dequantize, 0};
    ValueRef own = shared;
    NodeId owner; // the uses of a reader follow each other
    for (const Use& use : edit.users(shared)) {
        if (owner && use.node != owner)
            own = {copyFor(edit, dequantize, use.node), 0};
        owner = use.node;
        if (own != shared)
            edit.replaceArgument(use.node, use.argument, shared, own);
    }
}

} // namespace

Graph separateDequantizes(const Graph& graph)
{
    GraphEdit edit(graph);
    for (const NodePtr& node : graph.nodes())
        if (node->kind == NodeKind::Op && node->target.starts_with(kDequantize))
            separateReaders(edit, node->id);
    return edit.build();
}

} // namespace qs

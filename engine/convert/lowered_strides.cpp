// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowered_strides.h"

#include "engine/execute/layout.h"

#include <algorithm>

namespace qs {

namespace {

void reshapeInstead(GraphEdit& edit, NodeId id)
{
    std::vector<NamedArgument> args = edit.get(id).args;
    for (NamedArgument& argument : args)
        if (argument.name == "size")
            argument.name = "shape";
    edit.setArgs(id, std::move(args));
    edit.change(id).target = "aten.reshape.default";
}

/// The float value of what a kernel made, not of what was only quantized.
bool leavesKernel(const GraphEdit& edit, const Node& node)
{
    if (!node.isOp("aten.dequantize.self"))
        return false;
    const ValueRef* read = node.args.at(0).value.asRef();
    return read && edit.get(read->node).target.find(".quantize_per_") == std::string::npos;
}

ValueRef makeContiguous(GraphEdit& edit, NodeId id)
{
    Node copy = edit.get(id);
    copy.id = {};
    copy.name = "contiguous";
    copy.target = "aten.contiguous.default";
    copy.args = {{"self", ValueRef {id, 0}}};
    copy.argumentStrings.clear();
    copy.outputs.at(0).name.clear();
    const NodeId made = edit.insertAfter(std::move(copy), id);
    edit.replaceUses({id, 0}, {made, 0}, {made});
    return {made, 0};
}

} // namespace

std::unordered_map<ValueRef, ValueRef> restoreStrides(GraphEdit& edit)
{
    std::unordered_map<ValueRef, ValueRef> moved;
    const auto order = edit.order();
    const bool readStrides = std::any_of(order.begin(), order.end(),
                                         [&](NodeId id) { return readsStrides(edit.get(id)); });
    for (const NodeId id : order) {
        if (wantsViewableStrides(edit.get(id)))
            reshapeInstead(edit, id);
        else if (readStrides && leavesKernel(edit, edit.get(id)))
            moved[{id, 0}] = makeContiguous(edit, id);
    }
    return moved;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/lowered_strides.h"

#include "engine/convert/lowering/lowering_ops.h"
#include "engine/execute/layout.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

void reshapeInstead(GraphEdit& edit, NodeId id)
{
    std::vector<NamedArgument> args = edit.get(id).args;
    for (NamedArgument& argument : args)
        if (argument.name == "size")
            argument.name = "shape";
    edit.setArgs(id, std::move(args));
    edit.change(id).target = kReshapeTarget;
}

/// Whether an operator depends on the memory layout of a kernel's result. A custom module does if
/// an operator inside does; views inside it are not replaced.
bool dependsOnStrides(const Node& node)
{
    if (!node.isOp(kModuleTarget) && !node.isOp(kRecurTarget))
        return readsStrides(node);
    return std::any_of(node.subgraphs.begin(), node.subgraphs.end(), [](const GraphPtr& body) {
        const auto nodes = body->nodes();
        return std::any_of(nodes.begin(), nodes.end(), [](const NodePtr& inner) {
            return dependsOnStrides(*inner) || wantsViewableStrides(*inner);
        });
    });
}

/// Whether a node dequantizes the result of a kernel, not a value that was only quantized.
bool leavesKernel(const GraphEdit& edit, const Node& node)
{
    if (isFloatResultKernel(node.target))
        return true;
    if (!node.isOp(kDequantizeTensor))
        return false;
    const ValueRef* read = node.args.at(0).value.asRef();
    return read && edit.get(read->node).target.find(".quantize_per_") == std::string::npos;
}

using Order = std::vector<std::int64_t>;

/// Source dimension of each dimension of a permute's result; empty for any other operator, or if
/// the dimensions are not known.
Order permutation(const Node& node)
{
    const auto rank = std::int64_t(node.outputs.at(0).type.shape.size());
    const auto place = [&](const Argument* dim) {
        const auto* at = dim ? dim->asInt() : nullptr;
        return at ? (*at < 0 ? *at + rank : *at) : rank;
    };
    Order out;
    if (node.isOp(kPermuteTarget)) {
        const Argument* dims = node.tryArg("dims");
        if (dims && dims->asList())
            for (const Argument& dim : *dims->asList())
                out.push_back(place(&dim));
    } else if (node.isOp(kTransposeTarget)) {
        const auto a = place(node.tryArg("dim0")), b = place(node.tryArg("dim1"));
        if (a >= rank || b >= rank)
            return {};
        out.resize(std::size_t(rank));
        std::iota(out.begin(), out.end(), 0);
        std::swap(out[std::size_t(a)], out[std::size_t(b)]);
    }
    const bool known = std::int64_t(out.size()) == rank
        && std::all_of(out.begin(), out.end(), [&](auto at) { return at >= 0 && at < rank; });
    return known ? out : Order();
}

/// The product of the permutes between a kernel and its float value: the place of each dimension in
/// the kernel's result. Empty without permutes.
Order permutedSinceKernel(const GraphEdit& edit, const Node& dequantize)
{
    Order total;
    const ValueRef* read = dequantize.args.at(0).value.asRef();
    while (read) {
        const Node& maker = edit.get(read->node);
        const Order step = permutation(maker);
        if (step.empty())
            break;
        if (total.empty())
            total = step;
        else
            for (std::int64_t& at : total)
                at = step[std::size_t(at)];
        read = maker.args.at(0).value.asRef();
    }
    return total;
}

NodeId addAfter(GraphEdit& edit, NodeId id, std::string_view target, const Order& dims = {})
{
    Node node = edit.get(id);
    node.id = {};
    node.name = operatorParts(target).word;
    node.target = target;
    node.args = {{"self", ValueRef {id, 0}}};
    node.argumentStrings.clear();
    node.outputs.at(0).name.clear();
    if (!dims.empty()) {
        node.args.push_back({"dims", Argument::List(dims.begin(), dims.end())});
        const auto shape = node.outputs[0].type.shape;
        for (std::size_t i = 0; i < shape.size(); ++i)
            node.outputs[0].type.shape[i] = shape[std::size_t(dims[i])];
    }
    return edit.insertAfter(std::move(node), id);
}

/// Restores the float model's memory layout: contiguous at the kernel, then permuted.
ValueRef layOutAnew(GraphEdit& edit, NodeId id)
{
    const Order order = permutedSinceKernel(edit, edit.get(id));
    Order back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        back[std::size_t(order[i])] = std::int64_t(i);
    const auto users = edit.users({id, 0});
    NodeId made = order.empty() ? id : addAfter(edit, id, kPermuteTarget, back);
    made = addAfter(edit, made, kContiguousTarget);
    made = order.empty() ? made : addAfter(edit, made, kPermuteTarget, order);
    for (const Use& use : users)
        edit.replaceArgument(use.node, use.argument, {id, 0}, {made, 0});
    return {made, 0};
}

} // namespace

std::unordered_map<ValueRef, ValueRef> restoreStrides(GraphEdit& edit)
{
    std::unordered_map<ValueRef, ValueRef> moved;
    const auto order = edit.order();
    const bool readStrides = std::any_of(order.begin(), order.end(),
                                         [&](NodeId id) { return dependsOnStrides(edit.get(id)); });
    for (const NodeId id : order) {
        if (wantsViewableStrides(edit.get(id)))
            reshapeInstead(edit, id);
        else if (readStrides && leavesKernel(edit, edit.get(id)))
            moved[{id, 0}] = layOutAnew(edit, id);
    }
    return moved;
}

} // namespace qs

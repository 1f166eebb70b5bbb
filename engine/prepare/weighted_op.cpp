// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/weighted_op.h"

namespace qs {

std::optional<WeightedOp> weightedOp(const Node& node)
{
    if (node.kind != NodeKind::Op || !node.opaqueReason.empty())
        return std::nullopt;
    const OperatorFactsPtr facts = operatorFacts(node.target);
    if (!facts || facts->weighted == WeightedOp::Kind::No)
        return std::nullopt;
    WeightedOp op {facts->weighted, facts->input, facts->weight, facts->bias};
    const Argument* transposed = node.tryArg("transposed");
    if (transposed && transposed->asBool() && *transposed->asBool())
        op.kind = WeightedOp::Kind::TransposedConvolution;
    return op;
}

int argumentIndex(const Node& node, std::string_view name)
{
    for (std::size_t i = 0; i < node.args.size(); ++i)
        if (node.args[i].name == name)
            return int(i);
    return -1;
}

ValueRef argumentRef(const Node& node, std::string_view name)
{
    const Argument* argument = node.tryArg(name);
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    return ref ? *ref : ValueRef {};
}

WeightPath weightPath(const GraphEdit& edit, ValueRef argument)
{
    WeightPath path {argument, {}};
    while (path.source) {
        const Node& node = edit.get(path.source.node);
        if (node.kind != NodeKind::Op || !hasTrait(node.target, OperatorTrait::MovesWeight)
            || node.args.empty() || !node.args[0].value.asRef())
            break;
        path.layout.insert(path.layout.begin(), node.id);
        path.source = *node.args[0].value.asRef();
    }
    return path;
}

void rerouteWeight(GraphEdit& edit, NodeId node, std::string_view name, const WeightPath& path,
                   ValueRef replacement)
{
    ValueRef from = path.source;
    ValueRef to = replacement;
    for (std::size_t i = 0; i < path.layout.size(); ++i) {
        const NodeId next = i + 1 < path.layout.size() ? path.layout[i + 1] : node;
        const NodeId hop = path.layout[i];
        Node copy = edit.get(hop);
        copy.id = {};
        copy.origin = copy.origin ? copy.origin : hop;
        copy.args[0].value = to;
        for (auto& value : copy.outputs)
            value.name.clear();
        from = {hop, 0};
        to = {edit.insert(std::move(copy), next), 0};
    }
    const int index = argumentIndex(edit.get(node), name);
    edit.replaceArgument(node, std::size_t(index), from, to);
}

} // namespace qs

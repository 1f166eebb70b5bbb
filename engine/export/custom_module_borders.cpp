// SPDX-License-Identifier: Apache-2.0
#include "engine/export/custom_module_borders.h"

#include "engine/graph/engine_ops.h"
#include "engine/graph/graph_edit.h"

namespace qs {

namespace {

bool isStep(const Node& node, std::string_view step)
{
    constexpr std::string_view kFamily = "quantized_decomposed.";
    return node.target.starts_with(kFamily)
        && std::string_view(node.target).substr(kFamily.size()).starts_with(step);
}

Argument absorbed(const GraphEdit& edit, const Argument& argument)
{
    if (const auto* list = argument.asList()) {
        Argument::List items;
        for (const Argument& item : *list)
            items.push_back(absorbed(edit, item));
        return items;
    }
    const auto* ref = argument.asRef();
    const Node* before = ref ? edit.tryGet(ref->node) : nullptr;
    return before && isStep(*before, "dequantize_per_tensor") ? before->args.at(0).value : argument;
}

/// The readers of a quantize take the value itself, which is quantized: dequantize needs no
/// numbers.
void readQuantized(GraphEdit& edit, NodeId quantize, ValueRef value)
{
    for (const Use& use : edit.users({quantize, 0}))
        if (isStep(edit.get(use.node), "dequantize_per_tensor")) {
            Node& dequantize = edit.change(use.node);
            dequantize.target = "aten.dequantize.self";
            dequantize.args.resize(1);
        }
    edit.replaceUses({quantize, 0}, value);
}

} // namespace

Graph absorbCustomModuleBorders(const Graph& reference)
{
    GraphEdit edit(reference);
    for (const NodePtr& node : reference.nodes()) {
        if (!node->isOp(kLstmTarget))
            continue;
        std::vector<NamedArgument> args;
        for (const NamedArgument& argument : edit.get(node->id).args)
            args.push_back({argument.name, absorbed(edit, argument.value)});
        edit.setArgs(node->id, std::move(args));
        for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
            for (const Use& use : edit.users({node->id, i}))
                if (isStep(edit.get(use.node), "quantize_per_tensor"))
                    readQuantized(edit, use.node, {node->id, i});
    }
    edit.eraseDead();
    return edit.build();
}

} // namespace qs

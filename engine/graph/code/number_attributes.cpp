// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/number_attributes.h"

#include "engine/graph/operators/quantized_target.h"

#include <algorithm>

namespace qs {

void noteNumberAttribute(Node& node, std::string_view argument, const std::string& path)
{
    node.argumentStrings.push_back(std::string(argument) + "=" + path);
}

std::string numberAttribute(const Graph& graph, const Node& node, const NamedArgument& argument)
{
    const std::string wanted = argument.name + "=";
    for (const std::string& noted : node.argumentStrings)
        if (node.opaqueReason.empty() && noted.starts_with(wanted))
            return noted.substr(wanted.size());
    const ValueRef* ref = argument.value.asRef();
    const Node* source = ref ? graph.tryGet(ref->node) : nullptr;
    // A scripted model converts its buffers to numbers.
    while (source && source->isOperator() && source->args.size() == 1
           && source->args[0].value.asRef() && source->outputs.size() == 1
           && source->outputs[0].type.kind != ValueKind::Tensor)
        source = graph.tryGet(source->args[0].value.asRef()->node);
    const bool isOfRoot
        = source && source->isStored() && source->target.find('.') == std::string::npos;
    return isOfRoot ? source->target : std::string();
}

namespace {

const ValueRef* refUnder(const Node& node, std::string_view name)
{
    const Argument* argument = node.tryArg(name);
    return argument ? argument->asRef() : nullptr;
}

} // namespace

const Node* choiceOf(const Graph& graph, const Node& quantize)
{
    const ValueRef* scale = isQuantizeStep(quantize.target) ? refUnder(quantize, "scale") : nullptr;
    const Node* choice = scale ? graph.tryGet(scale->node) : nullptr;
    return choice && quantizeOf(graph, *choice) == &quantize ? choice : nullptr;
}

const Node* quantizeOf(const Graph& graph, const Node& choice)
{
    if (!choice.isOp(kChooseQParams) || choice.args.empty())
        return nullptr;
    const auto users = graph.users({choice.id, 0});
    const Node* quantize = nullptr;
    for (const Use& use : users)
        if (const Node& reader = graph.get(use.node); isQuantizeStep(reader.target))
            quantize = quantize ? nullptr : &reader;
    if (!quantize || quantize->args.empty() || !(quantize->args[0].value == choice.args[0].value))
        return nullptr;
    const auto isOfPair = [&](const Use& use) {
        const Node& reader = graph.get(use.node);
        const ValueRef* read = reader.args.empty() ? nullptr : reader.args[0].value.asRef();
        return &reader == quantize
            || (isDequantizeStep(reader.target) && read && read->node == quantize->id);
    };
    const auto others = graph.users({choice.id, 1});
    const auto integers = graph.users({quantize->id, 0});
    const bool isAlone = std::all_of(users.begin(), users.end(), isOfPair)
        && std::all_of(others.begin(), others.end(), isOfPair)
        && std::all_of(integers.begin(), integers.end(), [&](const Use& use) {
                             return isDequantizeStep(graph.get(use.node).target);
                         });
    return isAlone ? quantize : nullptr;
}

} // namespace qs

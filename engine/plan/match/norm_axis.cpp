// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/norm_axis.h"

#include "engine/base/text.h"
#include "engine/graph/operators/operators.h"
#include "engine/plan/names/taken_apart.h"

#include <optional>

namespace qs {

namespace {

/// The axis of a batch norm's channels.
constexpr std::size_t kNormAxis = 1;

const ValueType* typeOfArgument(const Graph& graph, const Node& node, std::string_view name)
{
    const Argument* argument = name.empty() ? nullptr : node.tryArg(name);
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    return ref ? &graph.value(*ref).type : nullptr;
}

/// The axis of a layer's output channels: the last for a linear; for a convolution the one before
/// the spatial dimensions, which is the first if the input is one image without a batch. Empty if
/// ranks are unknown.
std::optional<std::size_t> outputChannelAxis(const Graph& graph, const Node& layer)
{
    using Weighted = OperatorFacts::Weighted;
    const OperatorFactsPtr facts = operatorFacts(layer.target);
    if (!facts || layer.outputs.empty() || !layer.outputs[0].type.shapeKnown)
        return std::nullopt;
    const std::size_t rank = layer.outputs[0].type.shape.size();
    if (facts->weighted == Weighted::Linear)
        return rank - 1;
    const ValueType* weight = typeOfArgument(graph, layer, facts->weight);
    const bool isConvolution = facts->weighted == Weighted::Convolution
        || facts->weighted == Weighted::TransposedConvolution;
    if (!isConvolution || !weight || !weight->shapeKnown || weight->shape.size() < 2)
        return std::nullopt;
    const std::size_t spatial = weight->shape.size() - 2;
    return rank > spatial ? std::optional(rank - spatial - 1) : std::nullopt;
}

} // namespace

std::string whyNotFoldable(const Graph& graph, const OpNames& names,
                           const std::vector<NodeId>& operators)
{
    for (std::size_t i = 1; i < operators.size(); ++i) {
        const Node& norm = graph.get(operators[i]);
        if (names[graph.position(norm.id)].base.find("batch_norm") == std::string::npos)
            continue;
        const Node& layer = graph.get(operators[i - 1]);
        const auto axis = outputChannelAxis(graph, layer);
        if (axis && *axis != kNormAxis)
            return inQuotes(norm.name) + " normalizes along axis " + std::to_string(kNormAxis)
                + ", but the output channels of " + inQuotes(layer.name) + " lie along axis "
                + std::to_string(*axis) + " of "
                + counted(std::int64_t(layer.outputs[0].type.shape.size()), "dimension");
        for (const Node* node : {&layer, &norm})
            if (hasComputedTensors(graph, *node, names[graph.position(node->id)]))
                return "a parametrization computes the weight of " + inQuotes(node->name)
                    + "; fold it (--fold, or the edit \"fold\")";
    }
    return {};
}

} // namespace qs

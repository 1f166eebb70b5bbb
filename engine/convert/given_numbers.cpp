// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/given_numbers.h"

#include "engine/base/text.h"
#include "engine/convert/quantize_weights.h"
#include "engine/edit/edit_functions.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/value_conversion.h"
#include "engine/io/npy_tensor.h"
#include "engine/plan/cures/layer_numbers.h"
#include "engine/prepare/weighted_op.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

constexpr double kRounding = 1e-3; ///< of a step, tolerated for float arithmetic
constexpr double kSameScale = 1e-5; ///< relative difference

Result<at::Tensor> storedTensor(const GraphEdit& edit, const Node& node)
{
    const auto tensors = tensorsOf(edit);
    if (!node.isStored() || !tensors)
        return refuse(inQuotes(node.name) + " holds no tensor");
    return tensors->getTensor(node.tensor);
}

ValueRef addStored(GraphEdit& edit, const Node& like, const std::string& name,
                   const at::Tensor& tensor, NodeId before)
{
    Node node;
    node.kind = NodeKind::Constant;
    node.name = name;
    node.scope = like.scope;
    node.origin = like.origin ? like.origin : like.id;
    node.tensor = tensorsOf(edit)->add(tensor);
    node.tensorSha256 = contentOf(tensor);
    node.outputs.push_back({"", typeOfTensor(tensor)});
    const NodeId id = edit.insert(std::move(node), before);
    edit.change(id).target = edit.get(id).name;
    return {id, 0};
}

/// Parameters of a weight's channels or groups, so that they broadcast to its shape.
at::Tensor alongWeight(const at::Tensor& numbers, const QParams& qparams, at::IntArrayRef shape)
{
    if (!isPerChannel(qparams.qscheme))
        return numbers.reshape({});
    if (qparams.groupSize > 0)
        return numbers.reshape({shape[0], -1})
            .repeat_interleave(qparams.groupSize, 1)
            .narrow(1, 0, shape[1]);
    std::vector<std::int64_t> along(shape.size(), 1);
    along.at(std::size_t(qparams.axis)) = -1;
    return numbers.reshape(along);
}

/// Why the steps do not fit; empty if they do.
std::string whyUnfit(const at::Tensor& weight, const at::Tensor& steps, const QParams& qparams,
                     const at::Tensor& scales)
{
    const char* const changed = "it has changed since it was rounded";
    if (steps.sizes() != weight.sizes())
        return changed;
    const at::Tensor own = at::tensor(qparams.scale, at::kFloat);
    if (scales.numel() != own.numel()
        || !(scales.flatten() - own).abs().le(own * kSameScale).all().item<bool>())
        return "it is quantized with other scales than those it was rounded for";
    const at::Tensor zeros = zeroPointsFor(qparams, weight.sizes());
    const at::Tensor lowest = (qparams.quantMin - zeros).to(at::kFloat);
    const at::Tensor highest = (qparams.quantMax - zeros).to(at::kFloat);
    const at::Tensor given = steps.to(at::kFloat);
    if (given.lt(lowest).logical_or(given.gt(highest)).any().item<bool>())
        return "its range is narrower than that it was rounded for";
    const at::Tensor ideal
        = at::minimum(at::maximum(weight / scalesFor(qparams, weight.sizes()), lowest), highest);
    if ((ideal - given).abs().gt(1 + kRounding).any().item<bool>())
        return changed;
    return {};
}

} // namespace

at::Tensor scalesFor(const QParams& qparams, at::IntArrayRef shape)
{
    return alongWeight(at::tensor(qparams.scale, at::kFloat), qparams, shape);
}

at::Tensor zeroPointsFor(const QParams& qparams, at::IntArrayRef shape)
{
    return alongWeight(at::tensor(qparams.zeroPoint, at::kLong), qparams, shape);
}

Result<ValueRef> addRoundedWeight(GraphEdit& edit, ValueRef weight, const QParams& qparams,
                                  const LayerNumbers& numbers)
{
    const Node holder = edit.get(weight.node);
    QS_TRY(const at::Tensor was, storedTensor(edit, holder));
    const at::Tensor steps = tensorFromNpy(*numbers.steps);
    const std::string why = qparams.qscheme == QScheme::PerChannelAffineFloatQParams
        ? "it has real zero points"
        : whyUnfit(was, steps, qparams, tensorFromNpy(*numbers.scales));
    if (!why.empty())
        return refuse("the weight of " + inQuotes(edit.get(numbers.layer).name)
                          + " cannot be rounded as given: " + why,
                      "round it again with 'tune', or take the cure out of the recipe");
    const at::Tensor rounded = steps.to(at::kFloat) * scalesFor(qparams, was.sizes());
    return addStored(edit, holder, holder.name + "_rounded", rounded.contiguous(), holder.id);
}

Result<ValueRef> shiftBias(GraphEdit& edit, NodeId layer, const LayerNumbers& numbers)
{
    const Node node = edit.get(layer);
    const auto op = weightedOp(node);
    if (!op || op->bias.empty())
        return refuse(inQuotes(node.name) + " has no bias to correct");
    const at::Tensor shift = tensorFromNpy(*numbers.shift);
    const WeightPath path = weightPath(edit, argumentRef(node, op->weight));
    const ValueRef bias = argumentRef(node, op->bias);
    at::Tensor changed = shift;
    if (bias) {
        QS_TRY(const at::Tensor was, storedTensor(edit, edit.get(bias.node)));
        if (was.sizes() != shift.sizes())
            return refuse("the bias of " + inQuotes(node.name) + " has another number of channels");
        changed = was + shift.to(was.scalar_type());
    }
    const Node& like = edit.get(bias ? bias.node : path.source.node);
    const ValueRef made = addStored(edit, like, node.name + "_corrected_bias", changed.contiguous(),
                                    firstOperator(edit));
    std::vector<NamedArgument> args = node.args;
    const int at = argumentIndex(node, op->bias);
    if (at >= 0)
        args[std::size_t(at)].value = made;
    else
        args.insert(args.begin() + argumentIndex(node, op->weight) + 1, {op->bias, made});
    edit.setArgs(layer, std::move(args));
    return bias;
}

void dropGivenNumbers(GraphEdit& edit, const ConvertedModel& converted)
{
    const auto addPrepared = [&](ValueRef stored, NodeId before) -> ValueRef {
        Node node = converted.prepared->graph->get(stored.node);
        node.id = {};
        return {edit.insert(std::move(node), before), stored.index};
    };
    for (const auto& [rounded, was] : converted.roundedFrom)
        edit.replaceUses(rounded, addPrepared(was, rounded.node));
    for (const auto& [layer, was] : converted.correctedBiases) {
        const Node& node = edit.get(layer);
        std::vector<NamedArgument> args = node.args;
        Argument& bias = args.at(std::size_t(argumentIndex(node, weightedOp(node)->bias))).value;
        bias = was ? Argument(addPrepared(was, bias.asRef()->node)) : Argument();
        edit.setArgs(layer, std::move(args));
    }
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/quantize_weights.h"

#include "engine/execute/tensor_store.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/fake_quantizers.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/prepare/weighted_op.h"

#include <array>

namespace qs {

namespace {

/// Before `first`, or the first operator where the caller does not know it.
ValueRef addConstant(GraphEdit& edit, const at::Tensor& tensor, const std::string& name,
                     const Scope& scope, NodeId first = {})
{
    Node node;
    node.kind = NodeKind::Constant;
    node.name = name;
    node.tensor = tensorsOf(edit)->add(tensor);
    node.scope = scope;
    node.outputs.push_back({"", typeOfTensor(tensor)});
    const NodeId id = edit.insert(std::move(node), first ? first : firstOperator(edit));
    edit.change(id).target = edit.get(id).name;
    return {id, 0};
}

/// The arguments that quantize and dequantize of one of the producer's values share, after the
/// value itself.
std::vector<NamedArgument> qparamArguments(GraphEdit& edit, const QParams& qparams,
                                           const Node& producer, const Value& value,
                                           Saturation saturation, NodeId first)
{
    const DType dtype = storageDType(qparams.dtype);
    const bool grouped = qparams.groupSize > 0;
    const QuantRange range = grouped || saturation == Saturation::Observer
        ? QuantRange {qparams.quantMin, qparams.quantMax}
        : storageRange(dtype);
    std::vector<NamedArgument> args;
    if (isPerChannel(qparams.qscheme)) {
        at::Tensor scales = at::tensor(qparams.scale, at::kFloat);
        at::Tensor zeroPoints = at::tensor(qparams.zeroPoint, at::kLong);
        if (grouped) {
            const std::int64_t rows = value.type.shape.at(0).size;
            scales = scales.reshape({rows, -1});
            zeroPoints = zeroPoints.reshape({rows, -1});
        }
        args.push_back(
            {"scales", addConstant(edit, scales, value.name + "_scale", producer.scope, first)});
        args.push_back(
            {"zero_points",
             addConstant(edit, zeroPoints, value.name + "_zero_point", producer.scope, first)});
        if (!grouped)
            args.push_back({"axis", qparams.axis});
    } else {
        args.push_back({"scale", double(qparams.scale.at(0))});
        args.push_back({"zero_point", std::int64_t(qparams.zeroPoint.at(0))});
    }
    args.push_back({"quant_min", std::int64_t(range.min)});
    args.push_back({"quant_max", std::int64_t(range.max)});
    args.push_back({"dtype", dtype});
    if (grouped)
        args.push_back({"group_size", std::int64_t(qparams.groupSize)});
    return args;
}

/// What quantizes a weight with real zero points, in order.
constexpr std::array<std::string_view, 5> kFloatZeroPointSteps {
    kMultiplyTarget, kAddTarget, "aten.round.default", "aten.clamp.default", kCastTarget};

/// Elementwise operators and one dequantize for a weight with real zero points.
struct FloatZeroPointPair
{
    GraphEdit& edit;
    ValueRef value;
    const QParams& qparams;
    NodeId before, origin;

    Result<ValueRef> insert() const
    {
        const Node producer = edit.get(value.node);
        const Value& weight = producer.outputs.at(value.index);
        const std::size_t rank = weight.type.shape.size();
        if (qparams.floatZeroPoint.size() != qparams.scale.size()
            || std::size_t(qparams.axis) >= rank)
            return fail(makeError(ErrorCode::Internal, "real zero points are missing")
                            .atNode(producer.name));
        const at::Tensor scales = at::tensor(qparams.scale, at::kFloat);
        const at::Tensor zeroPoints = at::tensor(qparams.floatZeroPoint, at::kFloat);
        std::vector<std::int64_t> column(rank, 1);
        column[std::size_t(qparams.axis)] = scales.numel();
        const auto constant = [&](const at::Tensor& tensor, const char* suffix) {
            return addConstant(edit, tensor, weight.name + suffix, producer.scope);
        };
        const ValueRef inverse = constant(scales.reciprocal().reshape(column), "_inverse_scale");
        const ValueRef shift = constant(zeroPoints.reshape(column), "_shift");
        const QuantRange range = storageRange(qparams.dtype);
        const auto step
            = [&](std::string_view target, std::vector<NamedArgument> args, DType dtype) {
                  Node node;
                  node.name = operatorParts(target).word;
                  node.target = target;
                  node.args = std::move(args);
                  node.outputs.push_back({"", weight.type});
                  node.outputs[0].type.dtype = dtype;
                  node.scope = producer.scope;
                  node.origin = origin;
                  return ValueRef {edit.insert(std::move(node), before), 0};
              };
        const auto& [mul, add, round, clamp, to] = kFloatZeroPointSteps;
        ValueRef at = step(mul, {{"self", value}, {"other", inverse}}, DType::Float32);
        at = step(add, {{"self", at}, {"other", shift}}, DType::Float32);
        at = step(round, {{"self", at}}, DType::Float32);
        at = step(
            clamp,
            {{"self", at}, {"min", std::int64_t(range.min)}, {"max", std::int64_t(range.max)}},
            DType::Float32);
        at = step(to, {{"self", at}, {"dtype", DType::UInt8}}, DType::UInt8);
        return step(kDequantizePerChannel,
                    {{"input", at},
                     {"scales", constant(scales, "_scale")},
                     {"zero_points", constant(zeroPoints, "_zero_point")},
                     {"axis", qparams.axis},
                     {"quant_min", std::int64_t(range.min)},
                     {"quant_max", std::int64_t(range.max)},
                     {"dtype", DType::UInt8}},
                    DType::Float32);
    }
};

} // namespace

NodeId firstOperator(const GraphEdit& edit)
{
    for (NodeId id : edit.order()) {
        const Node& node = edit.get(id);
        if (node.kind != NodeKind::Input && !node.isStored())
            return id;
    }
    return {};
}

Result<ValueRef> insertQdqPair(GraphEdit& edit, ValueRef value, const QParams& qparams,
                               const QdqPlace& place, Saturation saturation)
{
    const Node producer = edit.get(value.node);
    const DType stored = storageDType(qparams.dtype);
    const bool perChannel = isPerChannel(qparams.qscheme);
    if (stored == DType::Unknown || qparams.scale.empty()
        || qparams.scale.size() != qparams.zeroPoint.size())
        return fail(makeError(ErrorCode::Internal, "quantization parameters without integers")
                        .atNode(producer.name));
    if (qparams.qscheme == QScheme::PerChannelAffineFloatQParams)
        return FloatZeroPointPair {edit, value, qparams, place.before, place.origin}.insert();

    const bool grouped = qparams.groupSize > 0;
    const Value& wanted = producer.outputs.at(value.index);
    const std::int64_t rows = grouped ? wanted.type.shape.at(0).size : 0;
    if (grouped && (rows < 1 || qparams.scale.size() % std::size_t(rows) != 0))
        return fail(makeError(ErrorCode::Internal, "a weight's groups do not fill its rows")
                        .atNode(producer.name));

    const std::string suffix = grouped ? "_per_channel_group"
        : perChannel                   ? "_per_channel"
                                       : "_per_tensor";
    auto args = qparamArguments(edit, qparams, producer, wanted, saturation, place.first);
    Node quantize;
    quantize.name = "quantize" + suffix;
    quantize.target = std::string(kReferenceForm) + "quantize" + suffix + ".default";
    quantize.args = args;
    quantize.args.insert(quantize.args.begin(), {"input", value});
    quantize.outputs.push_back({"", wanted.type});
    quantize.outputs[0].type.dtype = stored;
    quantize.scope = producer.scope;
    quantize.origin = place.origin;
    const NodeId q = edit.insert(std::move(quantize), place.before);

    Node dequantize;
    dequantize.target = dequantizeTargetOf(edit.get(q).target);
    dequantize.name = operatorParts(dequantize.target).word;
    dequantize.args = std::move(args);
    dequantize.args.insert(dequantize.args.begin(), {"input", ValueRef {q, 0}});
    if (grouped)
        dequantize.args.push_back({"output_dtype", DType::Float32});
    dequantize.outputs.push_back({"", wanted.type});
    dequantize.outputs[0].type.dtype = DType::Float32;
    dequantize.scope = producer.scope;
    dequantize.origin = place.origin;
    return ValueRef {edit.insert(std::move(dequantize), place.before), 0};
}

ValueRef insertHalfPair(GraphEdit& edit, ValueRef value, NodeId before, NodeId origin)
{
    const Node producer = edit.get(value.node);
    for (const DType dtype : {DType::Float16, DType::Float32}) {
        Node node;
        node.name = "to";
        node.target = kCastTarget;
        node.args = {{"self", value}, {"dtype", dtype}};
        node.outputs.push_back({"", producer.outputs.at(value.index).type});
        node.outputs[0].type.dtype = dtype;
        node.scope = producer.scope;
        node.origin = origin;
        value = {edit.insert(std::move(node), before), 0};
    }
    return value;
}

std::optional<FloatZeroPointWeight> floatZeroPointWeight(const GraphEdit& edit, ValueRef value)
{
    const Node* dequantize = value ? edit.tryGet(value.node) : nullptr;
    if (!dequantize || !dequantize->isOp(kDequantizePerChannel))
        return std::nullopt;
    FloatZeroPointWeight found;
    found.scales = argumentRef(*dequantize, "scales");
    found.zeroPoints = argumentRef(*dequantize, "zero_points");
    if (!found.zeroPoints
        || edit.get(found.zeroPoints.node).outputs.at(0).type.dtype != DType::Float32)
        return std::nullopt;
    found.axis = int(*dequantize->tryArg("axis")->asInt());
    found.dtype = *dequantize->tryArg("quant_max")->asInt() == 15 ? DType::QUInt4x2 : DType::QUInt8;
    found.source = argumentRef(*dequantize, "input");
    for (auto step = kFloatZeroPointSteps.rbegin(); step != kFloatZeroPointSteps.rend(); ++step) {
        const Node& node = edit.get(found.source.node);
        if (!node.isOp(*step))
            return std::nullopt;
        found.source = argumentRef(node, "self");
    }
    return found;
}

} // namespace qs

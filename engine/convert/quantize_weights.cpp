// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/quantize_weights.h"

#include "engine/execute/tensor_store.h"

#include <limits>

namespace qs {

namespace {

/// Constants stand with the parameters, before the first operator.
NodeId firstOperator(const GraphEdit& edit)
{
    for (NodeId id : edit.order()) {
        const NodeKind kind = edit.get(id).kind;
        if (kind != NodeKind::Input && kind != NodeKind::Parameter && kind != NodeKind::Constant)
            return id;
    }
    return {};
}

ValueRef addConstant(GraphEdit& edit, const at::Tensor& tensor, const std::string& name,
                     DType dtype, const Scope& scope)
{
    Node node;
    node.kind = NodeKind::Constant;
    node.name = name;
    node.tensor = edit.tensors()->add(tensor);
    node.scope = scope;
    Value value;
    value.type.dtype = dtype;
    value.type.shapeKnown = true;
    value.type.shape.push_back(Dim::fixed(tensor.numel()));
    node.outputs.push_back(std::move(value));
    const NodeId id = edit.insert(std::move(node), firstOperator(edit));
    edit.change(id).target = edit.get(id).name;
    return {id, 0};
}

/// The arguments that quantize and dequantize share, after the value itself.
std::vector<NamedArgument> qparamArguments(GraphEdit& edit, const QParams& qparams,
                                           const std::string& prefix, const Scope& scope)
{
    const DType dtype = storageDType(qparams.dtype);
    const QuantRange range = storageRange(dtype);
    std::vector<NamedArgument> args;
    if (isPerChannel(qparams.qscheme)) {
        const at::Tensor scales = at::tensor(qparams.scale, at::kFloat);
        const at::Tensor zeroPoints = at::tensor(qparams.zeroPoint, at::kLong);
        args.push_back(
            {"scales", addConstant(edit, scales, prefix + "_scale", DType::Float32, scope)});
        args.push_back(
            {"zero_points",
             addConstant(edit, zeroPoints, prefix + "_zero_point", DType::Int64, scope)});
        args.push_back({"axis", qparams.axis});
    } else {
        args.push_back({"scale", double(qparams.scale.at(0))});
        args.push_back({"zero_point", std::int64_t(qparams.zeroPoint.at(0))});
    }
    args.push_back({"quant_min", std::int64_t(range.min)});
    args.push_back({"quant_max", std::int64_t(range.max)});
    args.push_back({"dtype", dtype});
    return args;
}

} // namespace

DType storageDType(DType dtype)
{
    switch (dtype) {
    case DType::QUInt8:
    case DType::UInt8:
        return DType::UInt8;
    case DType::QInt8:
    case DType::Int8:
        return DType::Int8;
    case DType::QInt32:
    case DType::Int32:
        return DType::Int32;
    case DType::Int16:
    case DType::UInt16:
        return dtype;
    default:
        return DType::Unknown;
    }
}

QuantRange storageRange(DType dtype)
{
    switch (storageDType(dtype)) {
    case DType::UInt8:
        return {0, 255};
    case DType::Int8:
        return {-128, 127};
    case DType::Int16:
        return {-32768, 32767};
    case DType::UInt16:
        return {0, 65535};
    default:
        return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    }
}

Result<ValueRef> insertQdqPair(GraphEdit& edit, ValueRef value, const QParams& qparams,
                               NodeId before, NodeId origin)
{
    const Node producer = edit.get(value.node);
    const DType stored = storageDType(qparams.dtype);
    const bool perChannel = isPerChannel(qparams.qscheme);
    if (stored == DType::Unknown || qparams.scale.empty()
        || qparams.scale.size() != qparams.zeroPoint.size())
        return fail(makeError(ErrorCode::Internal, "quantization parameters without integers")
                        .atNode(producer.name));
    if (qparams.qscheme == QScheme::PerChannelAffineFloatQParams)
        return fail(makeError(ErrorCode::Unsupported,
                              "per_channel_affine_float_qparams has no quantize-dequantize form")
                        .atNode(producer.name)
                        .withHint("use per_channel_affine or keep this layer float"));

    const std::string suffix = perChannel ? "_per_channel" : "_per_tensor";
    auto args
        = qparamArguments(edit, qparams, producer.outputs.at(value.index).name, producer.scope);
    Node quantize;
    quantize.name = "quantize" + suffix;
    quantize.target = "quantized_decomposed.quantize" + suffix + ".default";
    quantize.args = args;
    quantize.args.insert(quantize.args.begin(), {"input", value});
    quantize.outputs.push_back({"", producer.outputs.at(value.index).type});
    quantize.outputs[0].type.dtype = stored;
    quantize.scope = producer.scope;
    quantize.origin = origin;
    const NodeId q = edit.insert(std::move(quantize), before);

    Node dequantize;
    dequantize.name = "dequantize" + suffix;
    dequantize.target = "quantized_decomposed.dequantize" + suffix + ".default";
    dequantize.args = std::move(args);
    dequantize.args.insert(dequantize.args.begin(), {"input", ValueRef {q, 0}});
    dequantize.outputs.push_back({"", producer.outputs.at(value.index).type});
    dequantize.outputs[0].type.dtype = DType::Float32;
    dequantize.scope = producer.scope;
    dequantize.origin = origin;
    return ValueRef {edit.insert(std::move(dequantize), before), 0};
}

} // namespace qs

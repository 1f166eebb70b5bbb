// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/emit/pointwise_kernel.h"

#include "engine/convert/lowering/emit/prepack.h"
#include "engine/convert/lowering/lowering_ops.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>

namespace qs {

namespace {

class PointwiseEmitter
{
public:
    PointwiseEmitter(GraphEdit& edit, const FloatKernelMatch& match, const QuantizedValues& values)
        : m_edit(edit)
        , m_match(match)
        , m_values(values)
        , m_root(edit.get(match.chain.front()))
        , m_before(match.chain.back())
    {
    }

    Result<NodeId> emit()
    {
        const auto op = weightedOp(m_root);
        const auto handle = findKernel(m_match.row.kernel);
        if (!op || !handle)
            return fail(ErrorCode::Unsupported, "LibTorch has no operator " + m_match.row.kernel);
        QS_CHECK(readActivation(*op));
        QS_CHECK(readWeight(*op));
        const std::string& kind = m_match.row.pattern.front();
        m_dimensions = kind == "linear" ? 0 : std::size_t(kind[kind.size() - 2] - '0');
        if (m_dimensions > 0)
            QS_CHECK(readGeometry());
        Node node;
        QS_TRY(node.args, arguments(handle->schema(), *op));
        node.target = targetOf(handle->operator_name());
        node.name = operatorParts(node.target).word;
        node.outputs.push_back({"", m_edit.get(m_before).outputs.at(0).type});
        return call(std::move(node));
    }

private:
    NodeId call(Node node)
    {
        return insertCall(m_edit, m_root, m_before, m_match.origin, std::move(node));
    }

    Result<void> readActivation(const WeightedOp& op)
    {
        const ValueRef read = argumentRef(m_root, op.input);
        const Node* dequantize = read ? m_edit.tryGet(read.node) : nullptr;
        const ValueRef quantized = dequantize && dequantize->isOp(kDequantizeTensor)
            ? argumentRef(*dequantize, "self")
            : ValueRef {};
        const auto params = quantized ? m_values.paramsOfValue(m_edit, quantized) : std::nullopt;
        if (!params)
            return fail(ErrorCode::Unsupported, "an input is not dequantized");
        if (m_values.ownParams.contains(quantized))
            return fail(ErrorCode::Unsupported,
                        "the kernel before it chooses its result's parameters itself");
        m_params = *params;
        m_activation
            = integersOf(quantized, params->dtype == DType::QInt8 ? DType::Int8 : DType::UInt8);
        return {};
    }

    /// The integers of a quantized tensor; several kernels share one such node.
    ValueRef integersOf(ValueRef quantized, DType stored)
    {
        for (const Use& use : m_edit.users(quantized))
            if (m_edit.get(use.node).isOp(kIntegersOfTensor))
                return {use.node, 0};
        Node node;
        node.name = "int_repr";
        node.target = std::string(kIntegersOfTensor);
        node.args = {{"self", quantized}};
        node.outputs.push_back({"", m_edit.get(quantized.node).outputs.at(quantized.index).type});
        node.outputs[0].type.dtype = stored;
        return {call(std::move(node)), 0};
    }

    Result<void> readWeight(const WeightedOp& op)
    {
        QS_TRY(const ValueRef stored, storedWeight(m_edit, m_root, op));
        QS_TRY(const ValueRef quantized, quantizedWeight(m_edit, stored));
        const Node quantize = m_edit.get(quantized.node); // a copy: insertions may move nodes
        const Argument* axis = quantize.tryArg("axis");
        if (axis && !(axis->asInt() && *axis->asInt() == 0))
            return fail(ErrorCode::Unsupported, "its weight has no scale for each output channel");
        for (const auto& [one, many, target, dtype] :
             {std::tuple("scale", "scales", &m_scale, DType::Float32),
              std::tuple("zero_point", "zero_points", &m_zeroPoint, DType::Int64)}) {
            const Argument* value = quantize.tryArg(axis ? many : one);
            if (!value)
                return fail(ErrorCode::Unsupported, "its weight is not quantized");
            *target = axis ? cast(*value, dtype) : tensorOf(*value, dtype);
        }
        m_weight = integersOf(quantized, DType::Int8);
        return {};
    }

    /// The number as a tensor of shape [1]: of a scale without dimensions oneDNN's matmul makes no
    /// primitive on processors without VNNI.
    ValueRef tensorOf(const Argument& number, DType dtype)
    {
        Node scalar;
        scalar.name = "scalar_tensor";
        scalar.target = std::string(kScalarTensorTarget);
        scalar.args = {{"s", number}, {"dtype", dtype}};
        ValueType type;
        type.dtype = dtype;
        type.shapeKnown = true;
        scalar.outputs.push_back({"", type});
        Node row;
        row.name = "row";
        row.target = std::string(kReshapeTarget);
        row.args = {{"self", ValueRef {call(std::move(scalar)), 0}},
                    {"shape", Argument::List {std::int64_t(1)}}};
        type.shape = {{.size = 1, .symbol = {}, .expression = {}}};
        row.outputs.push_back({"", std::move(type)});
        return {call(std::move(row)), 0};
    }

    ValueRef cast(const Argument& tensor, DType dtype)
    {
        const ValueRef given = *tensor.asRef();
        ValueType type = m_edit.get(given.node).outputs.at(given.index).type;
        if (type.dtype == dtype)
            return given;
        type.dtype = dtype;
        Node node;
        node.name = "to";
        node.target = std::string(kCastTarget);
        node.args = {{"self", given}, {"dtype", dtype}};
        node.outputs.push_back({"", std::move(type)});
        return {call(std::move(node)), 0};
    }

    Result<void> readGeometry()
    {
        const ValueRef filter = argumentRef(m_root, "weight");
        const ValueType type = m_edit.get(filter.node).outputs.at(filter.index).type;
        for (const char* name : {"stride", "padding", "dilation"}) {
            QS_TRY(Argument::List list, convolutionList(m_root, type, name, m_dimensions));
            m_geometry.push_back({name, std::move(list)});
        }
        Argument groups;
        effectiveArgument(m_root, "groups", groups);
        m_geometry.push_back({"groups", std::move(groups)});
        return {};
    }

    const Argument* geometry(const std::string& name) const
    {
        const auto found = std::find_if(m_geometry.begin(), m_geometry.end(),
                                        [&](const auto& one) { return one.name == name; });
        return found == m_geometry.end() ? nullptr : &found->value;
    }

    Result<ValueRef> packedWeight()
    {
        std::vector<NamedArgument> args {{"weight", m_weight}};
        if (m_dimensions > 0) {
            args.push_back({"w_scales", m_scale});
            args.push_back({"x_scale", m_params.scale});
            args.push_back({"x_zp", m_params.zeroPoint});
            args.insert(args.end(), m_geometry.begin(), m_geometry.end());
        }
        args.push_back({"x_shape", Argument()});
        return insertPackingCall(
            m_edit, m_root, m_dimensions > 0 ? "onednn::qconv_prepack" : "onednn::qlinear_prepack",
            std::move(args), m_before, m_match.origin);
    }

    Result<std::vector<NamedArgument>> arguments(const c10::FunctionSchema& schema,
                                                 const WeightedOp& op)
    {
        QS_TRY(const ValueRef packed, packedWeight());
        Argument bias;
        if (!op.bias.empty())
            effectiveArgument(m_root, op.bias, bias);
        const std::string after = m_match.chain.size() > 1 ? m_match.row.pattern.back() : "none";
        const std::vector<NamedArgument> known {{"qx", m_activation},
                                                {"x_scale", m_params.scale},
                                                {"x_zero_point", m_params.zeroPoint},
                                                {"qw", packed},
                                                {"w_scale", m_scale},
                                                {"w_zero_point", m_zeroPoint},
                                                {"bias", bias},
                                                {"output_scale", 1.0},
                                                {"output_zero_point", 0},
                                                {"output_dtype", DType::Float32},
                                                {"post_op_name", after},
                                                {"post_op_args", Argument::List()},
                                                {"post_op_algorithm", std::string()},
                                                {"attr", after},
                                                {"scalars", Argument::List()},
                                                {"algorithm", std::string()}};
        std::vector<NamedArgument> args;
        for (const auto& argument : schema.arguments()) {
            const auto found = std::find_if(known.begin(), known.end(), [&](const auto& one) {
                return one.name == argument.name();
            });
            const Argument* value
                = found == known.end() ? geometry(argument.name()) : &found->value;
            if (!value)
                return fail(ErrorCode::Unsupported,
                            "nothing gives the kernel's argument '" + argument.name() + "'");
            args.push_back({argument.name(), *value});
        }
        return args;
    }

    GraphEdit& m_edit;
    const FloatKernelMatch& m_match;
    const QuantizedValues& m_values;
    const Node m_root; ///< a copy: insertions may move nodes
    NodeId m_before;
    std::size_t m_dimensions = 0; ///< of a convolution
    QuantizeParams m_params; ///< of the activation
    ValueRef m_activation, m_weight, m_scale, m_zeroPoint;
    std::vector<NamedArgument> m_geometry; ///< of a convolution
};

} // namespace

Result<NodeId> emitPointwiseKernel(GraphEdit& edit, const FloatKernelMatch& match,
                                   const QuantizedValues& values)
{
    return PointwiseEmitter(edit, match, values).emit();
}

} // namespace qs

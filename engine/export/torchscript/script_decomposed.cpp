// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_ops.h"
#include "engine/graph/operators/quantized_target.h"

namespace qs {

namespace {

/// Emits one node of the family as other operators. The order of the arithmetic is that of the
/// original operators, so that results are bitwise equal.
class Decomposition
{
public:
    Decomposition(ScriptBuilder& builder, const Node& node)
        : m_builder(builder)
        , m_node(node)
    {
    }

    Result<ScriptValue*> quantizePerTensor()
    {
        QS_TRY(ScriptValue * input, floatInput());
        QS_TRY(ScriptValue * inverse, inverseScale());
        QS_TRY(ScriptValue * zeroPoint, number("zero_point"));
        return quantize(input, inverse, zeroPoint);
    }

    Result<ScriptValue*> dequantizePerTensor()
    {
        QS_TRY(ScriptValue * input, tensor("input"));
        QS_TRY(ScriptValue * zeroPoint, number("zero_point"));
        QS_TRY(ScriptValue * scale, number("scale"));
        ScriptValue* real = castTo(input, outputType());
        return times(minus(real, zeroPoint), scale);
    }

    /// Moves the channel dimension last, where a vector broadcasts for any rank.
    Result<ScriptValue*> quantizePerChannel()
    {
        QS_TRY(ScriptValue * input, floatInput());
        QS_TRY(ScriptValue * scales, tensor("scales"));
        QS_TRY(ScriptValue * zeroPoints, tensor("zero_points"));
        QS_TRY(ScriptValue * axis, number("axis"));
        QS_TRY(ScriptValue * quantized,
               quantize(moved(input, axis), inverseOf(scales), zeroPoints));
        return moved(quantized, axis);
    }

    Result<ScriptValue*> dequantizePerChannel()
    {
        QS_TRY(ScriptValue * input, tensor("input"));
        QS_TRY(ScriptValue * scales, tensor("scales"));
        QS_TRY(ScriptValue * axis, number("axis"));
        ScriptValue* shifted = moved(input, axis);
        if (const Argument* given = m_node.tryArg("zero_points"); given && !given->isNone()) {
            QS_TRY(ScriptValue * zeroPoints, tensor("zero_points"));
            shifted = minus(shifted, zeroPoints);
        }
        ScriptValue* real = castTo(times(shifted, scales), outputType());
        return moved(real, axis);
    }

    /// Uses the shape [rows, groups, size], to which scales and zero points of [rows, groups, 1]
    /// broadcast.
    Result<ScriptValue*> quantizePerChannelGroup()
    {
        QS_TRY(ScriptValue * input, floatInput());
        QS_TRY(ScriptValue * scales, column("scales"));
        QS_TRY(ScriptValue * zeroPoints, column("zero_points"));
        QS_TRY(ScriptValue * groups, cut(input));
        ScriptValue* shifted = plus(times(groups, inverseOf(scales)), zeroPoints);
        QS_TRY(ScriptValue * integers, clamped(rounded(shifted)));
        return joined(integers);
    }

    Result<ScriptValue*> dequantizePerChannelGroup()
    {
        QS_TRY(ScriptValue * input, tensor("input"));
        QS_TRY(ScriptValue * scales, column("scales"));
        QS_TRY(ScriptValue * shifted, cut(input));
        if (const Argument* given = m_node.tryArg("zero_points"); given && !given->isNone()) {
            QS_TRY(ScriptValue * zeroPoints, column("zero_points"));
            shifted = minus(shifted, zeroPoints);
        }
        return castTo(joined(times(shifted, scales)), outputType());
    }

    /// Scale and zero point computed from the input at run time.
    Result<std::vector<ScriptValue*>> chooseQParams(bool symmetric)
    {
        QS_TRY(ScriptValue * input, tensor("input"));
        QS_TRY(ScriptValue * low, number("quant_min"));
        QS_TRY(ScriptValue * high, number("quant_max"));
        QS_TRY(const Argument* eps, given("eps"));
        QS_TRY(ScriptValue * smallest, m_builder.argument(*eps, c10::FloatType::get()));
        QS_TRY(const double steps, rangeSteps());
        auto& body = m_builder.body();
        auto* ends = body.insertNode(body.createTupleUnpack(call("aten::aminmax", {input})));
        ScriptValue* zero = call("aten::zeros_like", {ends->outputs()[0]});
        ScriptValue* min = call("aten::minimum", {ends->outputs()[0], zero});
        ScriptValue* max = larger(ends->outputs()[1], zero);
        ScriptValue* span = symmetric ? larger(call("aten::neg", {min}), max) : minus(max, min);
        ScriptValue* parts = m_builder.literal(symmetric ? steps / 2 : steps);
        ScriptValue* scale = call("aten::clamp_min", {over(span, parts), smallest});
        ScriptValue* wide = castTo(scale, at::kDouble);
        if (symmetric) {
            const DType* dtype
                = m_node.tryArg("dtype") ? m_node.tryArg("dtype")->asDType() : nullptr;
            const bool isUnsigned = dtype && *dtype == DType::UInt8;
            return std::vector {wide, m_builder.literal(std::int64_t(isUnsigned ? 128 : 0))};
        }
        ScriptValue* shift = castTo(rounded(over(min, scale)), at::kInt);
        ScriptValue* zeroPoint = between(call("aten::rsub", {shift, low}), low, high);
        return std::vector {wide, castTo(zeroPoint, at::kLong)};
    }

private:
    Result<double> rangeSteps()
    {
        QS_TRY(const Argument* low, given("quant_min"));
        QS_TRY(const Argument* high, given("quant_max"));
        if (!low->asInt() || !high->asInt())
            return fail(ErrorCode::Unsupported, "its range is not known before it runs");
        return double(*high->asInt() - *low->asInt());
    }

    ScriptValue* call(const std::string& name, const std::vector<ScriptValue*>& args)
    {
        return m_builder.call(name, args);
    }

    using V = ScriptValue*;
    V plus(V a, V b) { return call("aten::add", {a, b}); }
    V minus(V a, V b) { return call("aten::sub", {a, b}); }
    V times(V a, V b) { return call("aten::mul", {a, b}); }
    V over(V a, V b) { return call("aten::div", {a, b}); }
    V larger(V a, V b) { return call("aten::maximum", {a, b}); }
    V rounded(V x) { return call("aten::round", {x}); }
    V inverseOf(V x) { return call("aten::reciprocal", {x}); }
    V between(V x, V low, V high) { return call("aten::clamp", {x, low, high}); }
    V cast(V x, V type) { return call("aten::to", {x, type}); }

    ScriptValue* castTo(ScriptValue* input, at::ScalarType type)
    {
        return cast(input, m_builder.literal(std::int64_t(type)));
    }

    ScriptValue* moved(ScriptValue* input, ScriptValue* axis)
    {
        return call("aten::transpose", {input, axis, m_builder.literal(std::int64_t(-1))});
    }

    Result<const Argument*> given(const char* name)
    {
        const Argument* argument = m_node.tryArg(name);
        if (!argument || argument->isNone())
            return fail(ErrorCode::BadInput, std::string("argument '") + name + "' is missing");
        return argument;
    }

    Result<ScriptValue*> tensor(const char* name)
    {
        QS_TRY(const Argument* argument, given(name));
        return m_builder.argument(*argument, c10::TensorType::get());
    }

    /// A literal number, or a tensor of one element where the overload takes those.
    Result<ScriptValue*> number(const char* name)
    {
        QS_TRY(const Argument* argument, given(name));
        const bool real = std::string_view(name) == "scale";
        return m_builder.argument(*argument,
                                  real ? c10::TypePtr(c10::FloatType::get())
                                       : c10::TypePtr(c10::IntType::get()));
    }

    Result<ScriptValue*> floatInput()
    {
        QS_TRY(ScriptValue * input, tensor("input"));
        const auto* ref = m_node.tryArg("input")->asRef();
        if (ref && m_builder.source().value(*ref).type.dtype == DType::Float32)
            return input;
        return castTo(input, at::kFloat);
    }

    Result<ScriptValue*> inverseScale()
    {
        QS_TRY(const Argument* argument, given("scale"));
        if (const double* scale = argument->asDouble())
            return m_builder.literal(1.0 / *scale);
        QS_TRY(ScriptValue * scale, number("scale"));
        return over(m_builder.literal(1.0), scale);
    }

    Result<ScriptValue*> quantize(ScriptValue* input, ScriptValue* inverse, ScriptValue* zeroPoint)
    {
        return clamped(plus(rounded(times(input, inverse)), zeroPoint));
    }

    Result<ScriptValue*> clamped(ScriptValue* shifted)
    {
        QS_TRY(ScriptValue * low, number("quant_min"));
        QS_TRY(ScriptValue * high, number("quant_max"));
        QS_TRY(const Argument* dtype, given("dtype"));
        QS_TRY(ScriptValue * type, m_builder.argument(*dtype, c10::IntType::get()));
        return cast(between(shifted, low, high), type);
    }

    /// [rows, groups] as [rows, groups, 1].
    Result<ScriptValue*> column(const char* name)
    {
        QS_TRY(ScriptValue * vector, tensor(name));
        return call("aten::unsqueeze", {vector, m_builder.literal(std::int64_t(-1))});
    }

    Result<ScriptValue*> cut(ScriptValue* matrix)
    {
        QS_TRY(const Argument* size, given("group_size"));
        if (!size->asInt())
            return fail(ErrorCode::Unsupported, "its groups are not known before it runs");
        return call("aten::unflatten",
                    {matrix, m_builder.literal(std::int64_t(1)),
                     m_builder.literal(std::vector<std::int64_t> {-1, *size->asInt()})});
    }

    ScriptValue* joined(ScriptValue* groups)
    {
        return call(
            "aten::flatten",
            {groups, m_builder.literal(std::int64_t(1)), m_builder.literal(std::int64_t(2))});
    }

    at::ScalarType outputType()
    {
        const Argument* wanted = m_node.tryArg("out_dtype");
        const DType* dtype = wanted ? wanted->asDType() : nullptr;
        if (!dtype)
            return at::kFloat;
        return *dtype == DType::Float16 ? at::kHalf
            : *dtype == DType::BFloat16 ? at::kBFloat16
            : *dtype == DType::Float64  ? at::kDouble
                                        : at::kFloat;
    }

    ScriptBuilder& m_builder;
    const Node& m_node;
};

} // namespace

bool isDecomposed(const Node& node)
{
    return isReferenceStep(node.target);
}

Result<std::vector<ScriptValue*>> emitDecomposed(ScriptBuilder& builder, const Node& node)
{
    const std::string_view rest = std::string_view(node.target).substr(kReferenceForm.size());
    const std::string_view name = rest.substr(0, rest.find('.'));
    Decomposition decomposition(builder, node);
    if (name.starts_with("choose_qparams"))
        return decomposition.chooseQParams(name == "choose_qparams_symmetric");
    Result<ScriptValue*> (Decomposition::*one)() = name == "quantize_per_tensor"
        ? &Decomposition::quantizePerTensor
        : name == "dequantize_per_tensor"        ? &Decomposition::dequantizePerTensor
        : name == "quantize_per_channel"         ? &Decomposition::quantizePerChannel
        : name == "dequantize_per_channel"       ? &Decomposition::dequantizePerChannel
        : name == "quantize_per_channel_group"   ? &Decomposition::quantizePerChannelGroup
        : name == "dequantize_per_channel_group" ? &Decomposition::dequantizePerChannelGroup
                                                 : nullptr;
    if (!one)
        return fail(makeError(ErrorCode::Unsupported,
                              "TorchScript has no spelling of '" + node.target + "'")
                        .withHint("export pt2-reference instead"));
    QS_TRY(ScriptValue * made, (decomposition.*one)());
    return std::vector {made};
}

} // namespace qs

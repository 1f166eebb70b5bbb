// SPDX-License-Identifier: Apache-2.0
// quantized_decomposed.*: quantizes and stores integers as in the reference form.
#include "engine/convert/quantize_weights.h"
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

/// The integer type of a step; refuses a type that QuantizeLinear does not support.
DType integerType(OnnxCall& c)
{
    const Argument* given = c.given("dtype");
    const DType dtype = given && given->asDType() ? *given->asDType() : DType::Unknown;
    const bool wide = dtype == DType::Int16 || dtype == DType::UInt16;
    if (dtype != DType::UInt8 && dtype != DType::Int8 && dtype != DType::Int32 && !wide)
        c.refuse("QuantizeLinear has no integers of type " + std::string(dtypeName(dtype)));
    if (wide && c.opset() < 21)
        c.refuse("16-bit integers need operator set 21");
    return dtype;
}

std::int64_t limit(OnnxCall& c, const char* name, double ofType)
{
    return c.integer(name, std::int64_t(ofType));
}

/// Whether the step's range is the full range of its integer type, where QuantizeLinear saturates.
bool isWholeRange(OnnxCall& c, DType dtype)
{
    const QuantRange range = storageRange(dtype);
    return limit(c, "quant_min", double(range.min)) <= std::int64_t(range.min)
        && limit(c, "quant_max", double(range.max)) >= std::int64_t(range.max);
}

/// A constant argument as a tensor of that type.
std::optional<at::Tensor> constantOf(OnnxCall& c, const char* name, DType dtype)
{
    const Argument* argument = c.given(name);
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    const auto tensor = ref ? c.builder().constant(*ref) : std::nullopt;
    return tensor ? std::optional(tensor->to(toScalarType(dtype))) : std::nullopt;
}

std::string nameOf(OnnxCall& c, const char* suffix)
{
    const Argument* input = c.given("input");
    const ValueRef* ref = input ? input->asRef() : nullptr;
    return (ref ? c.builder().graph().value(*ref).name : c.node().name) + suffix;
}

/// Scale and zero point of a step with fixed parameters.
std::vector<std::string> parameters(OnnxCall& c, DType dtype, bool isNibbles = false)
{
    if (c.has("scale"))
        return {
            c.scalar(c.number("scale", 1), DType::Float32),
            c.constant(
                at::scalar_tensor(c.integer("zero_point", 0), at::kLong).to(toScalarType(dtype)),
                "zero_point", isNibbles)};
    const auto scales = constantOf(c, "scales", DType::Float32);
    const auto zeroPoints = constantOf(c, "zero_points", dtype);
    if (!scales) {
        c.refuse("its scales are not fixed");
        return {};
    }
    return {c.constant(*scales, nameOf(c, "_scale")),
            c.constant(zeroPoints ? *zeroPoints : at::zeros_like(*scales, toScalarType(dtype)),
                       nameOf(c, "_zero_point"), isNibbles)};
}

OnnxAttributes axisOf(OnnxCall& c)
{
    OnnxAttributes attributes;
    if (c.has("scales"))
        attributes.emplace_back("axis", c.integer("axis", 0));
    return attributes;
}

/// Clips real values before rounding if the range is narrower than that of the integer type, for
/// example seven bits.
std::string cutToRange(OnnxCall& c, const std::string& value, DType dtype)
{
    if (isWholeRange(c, dtype))
        return value;
    if (c.has("scales")) {
        c.refuse("a range narrower than its integers, one scale a channel, is not fixed");
        return value;
    }
    const double scale = c.number("scale", 1);
    const auto zeroPoint = c.integer("zero_point", 0);
    const auto real = [&](const char* name) {
        return c.scalar(double(c.integer(name, 0) - zeroPoint) * scale, DType::Float32);
    };
    return c.emit("Clip", {value, real("quant_min"), real("quant_max")});
}

void quantize(OnnxCall& c)
{
    const DType dtype = integerType(c);
    if (dtype == DType::Int32) {
        c.refuse("QuantizeLinear makes no 32-bit integers");
        return;
    }
    std::vector<std::string> inputs = parameters(c, dtype);
    inputs.insert(inputs.begin(), cutToRange(c, c.in("input", DType::Float32), dtype));
    c.give(c.emit("QuantizeLinear", std::move(inputs), axisOf(c)));
}

/// Weights with real zero points: (q - zero point) * scale, in floats.
void dequantizeAroundReals(OnnxCall& c)
{
    const int rank = c.rank("input");
    const std::int64_t axis = c.wrapped(c.integer("axis", 0), rank);
    std::vector<std::int64_t> column(std::size_t(rank), 1);
    column[std::size_t(axis)] = -1;
    const auto scales = constantOf(c, "scales", DType::Float32);
    const auto zeroPoints = constantOf(c, "zero_points", DType::Float32);
    if (!scales || !zeroPoints) {
        c.refuse("its scales are not fixed");
        return;
    }
    const std::string centred
        = c.emit("Sub",
                 {c.cast(c.in("input"), DType::Float32),
                  c.constant(zeroPoints->reshape(column), nameOf(c, "_zero_point"))});
    c.give(c.emit("Mul", {centred, c.constant(scales->reshape(column), nameOf(c, "_scale"))}));
}

void dequantize(OnnxCall& c)
{
    const DType dtype = integerType(c);
    if (c.has("zero_points") && isFloating(c.dtype("zero_points"))) {
        dequantizeAroundReals(c);
        return;
    }
    const auto stored = constantOf(c, "input", dtype);
    const bool isNibbles = stored && c.isStoredInNibbles();
    std::vector<std::string> inputs = parameters(c, dtype, isNibbles);
    inputs.insert(inputs.begin(),
                  isNibbles ? c.constant(*stored, nameOf(c, "_int4"), true) : c.in("input"));
    // Older readers accept no zero point for 32-bit integers; it is 0.
    if (dtype == DType::Int32)
        inputs.resize(2);
    const std::string made = c.emit("DequantizeLinear", std::move(inputs), axisOf(c));
    c.give(c.resultDType() == DType::Float32 ? made : c.cast(made, c.resultDType()));
}

/// Weights with a scale and a zero point per group of a row: blocked DequantizeLinear, or each
/// group as a separate row before operator set 21.
void dequantizeByGroups(OnnxCall& c)
{
    const DType dtype = integerType(c);
    const auto stored = constantOf(c, "input", dtype);
    const auto scales = constantOf(c, "scales", DType::Float32);
    if (!stored || !scales || stored->dim() != 2 || scales->dim() != 2) {
        c.refuse("its integers and scales are not fixed");
        return;
    }
    const auto given = constantOf(c, "zero_points", dtype);
    const at::Tensor points = given ? *given : at::zeros_like(*scales, toScalarType(dtype));
    const std::int64_t size = std::min(c.integer("group_size", 0), stored->size(1));
    const bool isNibbles = c.isStoredInNibbles();
    const auto emitted = [&](const at::Tensor& integers, const at::Tensor& scale,
                             const at::Tensor& zero, OnnxAttributes attributes) {
        return c.emit("DequantizeLinear",
                      {c.constant(integers, nameOf(c, "_integers"), isNibbles),
                       c.constant(scale, nameOf(c, "_scale")),
                       c.constant(zero, nameOf(c, "_zero_point"), isNibbles)},
                      std::move(attributes));
    };
    const std::string made = c.opset() >= 21
        ? emitted(*stored, *scales, points, {{"axis", 1}, {"block_size", size}})
        : c.reshape(emitted(stored->reshape({-1, size}), scales->flatten(), points.flatten(),
                            {{"axis", 0}}),
                    stored->sizes().vec());
    c.give(c.resultDType() == DType::Float32 ? made : c.cast(made, c.resultDType()));
}

/// Dynamic parameters from the smallest and largest value, with the range extended to include zero.
void chooseParameters(OnnxCall& c, bool symmetric)
{
    const std::string x = c.in("input", DType::Float32);
    const std::string zero = c.scalar(0, DType::Float32);
    const auto low = double(c.integer("quant_min", 0)), high = double(c.integer("quant_max", 255));
    const std::string least = c.scalar(c.number("eps", 0), DType::Float32);
    const std::string min = c.emit("Min", {c.reduce("ReduceMin", x, {}, false), zero});
    const std::string max = c.emit("Max", {c.reduce("ReduceMax", x, {}, false), zero});
    const std::string steps = c.scalar(symmetric ? (high - low) / 2 : high - low, DType::Float32);
    const std::string width
        = symmetric ? c.emit("Max", {c.emit("Neg", {min}), max}) : c.emit("Sub", {max, min});
    const std::string scale = c.emit("Max", {c.emit("Div", {width, steps}), least});
    c.give(c.reshape(c.cast(scale, DType::Float64), {1}), 0);
    if (symmetric) {
        const Argument* dtype = c.given("dtype");
        const bool isByte = dtype && dtype->asDType() && *dtype->asDType() == DType::UInt8;
        c.give(c.ints({isByte ? 128 : 0}), 1);
        return;
    }
    const std::string shift = c.emit("Round", {c.emit("Div", {min, scale})});
    const std::string point
        = c.emit("Clip",
                 {c.emit("Sub", {c.scalar(low, DType::Float32), shift}),
                  c.scalar(low, DType::Float32), c.scalar(high, DType::Float32)});
    c.give(c.reshape(c.cast(point, DType::Int64), {1}), 1);
}

/// The dynamic scale as a float scalar, as QuantizeLinear and DequantizeLinear require.
std::string scaleOfTheMoment(OnnxCall& c)
{
    return c.emit("Reshape", {c.in("scale", DType::Float32), c.ints({})});
}

void quantizeOfTheMoment(OnnxCall& c)
{
    const DType dtype = integerType(c);
    const std::string point = c.emit("Reshape", {c.in("zero_point", dtype), c.ints({})});
    if (!isWholeRange(c, dtype)) {
        c.refuse("a range narrower than its integers, parameters of the moment");
        return;
    }
    c.give(c.emit("QuantizeLinear", {c.in("input", DType::Float32), scaleOfTheMoment(c), point}));
}

void dequantizeOfTheMoment(OnnxCall& c)
{
    const DType dtype = integerType(c);
    const std::string point = c.emit("Reshape", {c.in("zero_point", dtype), c.ints({})});
    c.give(c.emit("DequantizeLinear", {c.in("input"), scaleOfTheMoment(c), point}));
}

} // namespace

void addQuantizeHandlers(OnnxHandlers& table)
{
    for (const char* step : {"per_tensor", "per_channel"}) {
        const std::string target = std::string(kReferenceForm) + "quantize_" + step + ".default";
        table[target] = quantize;
        table[dequantizeTargetOf(target)] = dequantize;
    }
    const auto add = [&](std::string_view target, OnnxHandler handler) {
        table[std::string(target)] = handler;
    };
    add(kDequantizePerGroup, dequantizeByGroups);
    add(kQuantizeOfMoment, quantizeOfTheMoment);
    add(kDequantizeOfMoment, dequantizeOfTheMoment);
    add(kChooseQParams, [](OnnxCall& c) { chooseParameters(c, false); });
    add(kChooseSymmetric, [](OnnxCall& c) { chooseParameters(c, true); });
}

} // namespace qs

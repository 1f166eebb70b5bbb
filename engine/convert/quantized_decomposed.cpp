// SPDX-License-Identifier: Apache-2.0
// LibTorch knows `quantized_decomposed::*` only once Python has registered them, so the engine
// brings its own: the same schemas, and the same sequence of float32 operations, hence the same
// bits.
#include "engine/convert/convert.h"
#include "engine/kernels/fake_quant.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace qs {

namespace {

using at::Tensor;

constexpr std::int64_t kBlock = 1 << 19; ///< elements of a large weight at a time

struct IntegerBounds
{
    std::int64_t min, max;
};

template<class T>
constexpr IntegerBounds boundsOf()
{
    return {std::int64_t(std::numeric_limits<T>::min()),
            std::int64_t(std::numeric_limits<T>::max())};
}

std::optional<IntegerBounds> integerBounds(at::ScalarType dtype)
{
    switch (dtype) {
    case at::kByte:
        return boundsOf<std::uint8_t>();
    case at::kChar:
        return boundsOf<std::int8_t>();
    case at::kShort:
        return boundsOf<std::int16_t>();
    case at::kInt:
        return boundsOf<std::int32_t>();
    case at::kUInt16:
        return boundsOf<std::uint16_t>();
    default:
        return std::nullopt;
    }
}

void checkRange(std::int64_t quantMin, std::int64_t quantMax, at::ScalarType dtype)
{
    const auto bounds = integerBounds(dtype);
    TORCH_CHECK(bounds, "quantized_decomposed: cannot quantize to ", dtype);
    TORCH_CHECK(quantMin >= bounds->min && quantMax <= bounds->max,
                "quantized_decomposed: the range ", quantMin, "..", quantMax, " does not fit ",
                dtype);
}

Tensor toFloat(const Tensor& input)
{
    const bool half = input.scalar_type() == at::kHalf || input.scalar_type() == at::kBFloat16;
    Tensor x = half ? input.to(at::kFloat) : input;
    TORCH_CHECK(x.scalar_type() == at::kFloat, "quantized_decomposed: expected float32, got ",
                x.scalar_type());
    return x;
}

/// Eight-bit integers on the CPU, by far the most: one reading of the data instead of five.
bool hasKernel(const Tensor& input, at::ScalarType integers)
{
    return input.is_cpu() && input.is_non_overlapping_and_dense()
        && (integers == at::kByte || integers == at::kChar);
}

Tensor quantizedAtOnce(const Tensor& x, const kernels::FakeQuant& q, at::ScalarType dtype)
{
    Tensor out = at::empty_like(x, x.options().dtype(dtype));
    const auto* data = x.const_data_ptr<float>();
    const int threads = at::get_num_threads();
    if (dtype == at::kByte)
        kernels::quantizeCpu(data, x.numel(), q, out.data_ptr<std::uint8_t>(), threads);
    else
        kernels::quantizeCpu(data, x.numel(), q, out.data_ptr<std::int8_t>(), threads);
    return out;
}

Tensor dequantizedAtOnce(const Tensor& x, const kernels::FakeQuant& q)
{
    Tensor out = at::empty_like(x, x.options().dtype(at::kFloat));
    auto* made = out.data_ptr<float>();
    const int threads = at::get_num_threads();
    if (x.scalar_type() == at::kByte)
        kernels::dequantizeCpu(x.const_data_ptr<std::uint8_t>(), x.numel(), q, made, threads);
    else
        kernels::dequantizeCpu(x.const_data_ptr<std::int8_t>(), x.numel(), q, made, threads);
    return out;
}

// NOLINTBEGIN(readability-function-size): the operators' schemas count their arguments
Tensor quantizePerTensor(const Tensor& input, double scale, std::int64_t zeroPoint,
                         std::int64_t quantMin, std::int64_t quantMax, at::ScalarType dtype)
{
    const Tensor x = toFloat(input);
    checkRange(quantMin, quantMax, dtype);
    if (hasKernel(x, dtype))
        return quantizedAtOnce(x, kernels::makeFakeQuant(scale, zeroPoint, quantMin, quantMax),
                               dtype);
    return x.mul(1.0 / scale).round_().add_(zeroPoint).clamp_(quantMin, quantMax).to(dtype);
}

Tensor quantizePerTensorT(const Tensor& input, const Tensor& scale, const Tensor& zeroPoint,
                          std::int64_t quantMin, std::int64_t quantMax, at::ScalarType dtype)
{
    return quantizePerTensor(input, scale.item<double>(), zeroPoint.item<std::int64_t>(), quantMin,
                             quantMax, dtype);
}

Tensor dequantizePerTensor(const Tensor& input, double scale, std::int64_t zeroPoint,
                           std::int64_t quantMin, std::int64_t quantMax, at::ScalarType dtype,
                           std::optional<at::ScalarType> outDtype)
{
    TORCH_CHECK(input.scalar_type() == dtype, "quantized_decomposed: expected ", dtype, ", got ",
                input.scalar_type());
    TORCH_CHECK(integerBounds(dtype), "quantized_decomposed: cannot dequantize ", dtype);
    if (hasKernel(input, dtype) && outDtype.value_or(at::kFloat) == at::kFloat)
        return dequantizedAtOnce(input,
                                 kernels::makeFakeQuant(scale, zeroPoint, quantMin, quantMax));
    return input.to(outDtype.value_or(at::kFloat)).sub_(zeroPoint).mul_(scale);
}

Tensor dequantizePerTensorT(const Tensor& input, const Tensor& scale, const Tensor& zeroPoint,
                            std::int64_t quantMin, std::int64_t quantMax, at::ScalarType dtype,
                            std::optional<at::ScalarType> outDtype)
{
    return dequantizePerTensor(input, scale.item<double>(), zeroPoint.item<std::int64_t>(),
                               quantMin, quantMax, dtype, outDtype);
}

/// The shape in which a per-channel vector multiplies `input` along `axis`.
std::vector<std::int64_t> channelShape(const Tensor& input, const Tensor& scales, std::int64_t axis)
{
    TORCH_CHECK(axis < input.dim(), "quantized_decomposed: no axis ", axis, " in ", input.dim(),
                " dimensions");
    std::vector<std::int64_t> shape(std::size_t(input.dim()), 1);
    shape[std::size_t(axis < 0 ? axis + input.dim() : axis)] = scales.size(0);
    return shape;
}

Tensor quantizePerChannel(const Tensor& input, const Tensor& scales, const Tensor& zeroPoints,
                          std::int64_t axis, std::int64_t quantMin, std::int64_t quantMax,
                          at::ScalarType dtype)
{
    const Tensor x = toFloat(input);
    checkRange(quantMin, quantMax, dtype);
    const auto shape = channelShape(x, scales, axis);
    const Tensor inverse = scales.reshape(shape).reciprocal();
    const Tensor shift = zeroPoints.reshape(shape);
    Tensor out = at::empty_like(x, x.options().dtype(dtype));
    // In blocks: a large weight is not held as floats a second time.
    const std::int64_t rows = x.numel() > 0 ? x.size(0) : 0;
    const std::int64_t step = rows > 0 ? std::max<std::int64_t>(kBlock / (x.numel() / rows), 1) : 1;
    for (std::int64_t first = 0; first < rows; first += step) {
        const std::int64_t count = std::min(step, rows - first);
        const auto part
            = [&](const Tensor& by) { return by.size(0) == 1 ? by : by.narrow(0, first, count); };
        Tensor made = x.narrow(0, first, count) * part(inverse);
        made.round_().add_(part(shift)).clamp_(quantMin, quantMax);
        out.narrow(0, first, count).copy_(made);
    }
    return out;
}

Tensor dequantizePerChannel(const Tensor& input, const Tensor& scales,
                            const std::optional<Tensor>& zeroPoints, std::int64_t axis,
                            std::int64_t quantMin, std::int64_t quantMax, at::ScalarType dtype,
                            std::optional<at::ScalarType> outDtype)
{
    TORCH_CHECK(input.scalar_type() == dtype, "quantized_decomposed: expected ", dtype, ", got ",
                input.scalar_type());
    checkRange(quantMin, quantMax, dtype);
    const auto shape = channelShape(input, scales, axis);
    // Integers of eight bits are exact in float, zero points too: no 64-bit tensor in between.
    const bool small = dtype == at::kByte || dtype == at::kChar;
    if (small && scales.scalar_type() == at::kFloat && outDtype.value_or(at::kFloat) == at::kFloat
        && (!zeroPoints || at::isIntegralType(zeroPoints->scalar_type(), false))) {
        Tensor x = input.to(at::kFloat);
        if (zeroPoints)
            x.sub_(zeroPoints->reshape(shape));
        return x.mul_(scales.reshape(shape));
    }
    const Tensor centred = zeroPoints.has_value() ? input - zeroPoints->reshape(shape) : input;
    return (centred * scales.reshape(shape)).to(outDtype.value_or(at::kFloat));
}

/// Rows cut into groups, and vectors that fit them. A group longer than the row is the row.
struct Groups
{
    Tensor rows, scales, zeroPoints; ///< [groups, size], [groups, 1]; zero points undefined = 0
};

Groups groupsOf(const Tensor& input, const Tensor& scales, const std::optional<Tensor>& zeroPoints,
                std::int64_t size)
{
    TORCH_CHECK(input.dim() == 2 && size > 1,
                "quantized_decomposed: groups of at least 2 values are those of a matrix");
    const std::int64_t row = input.size(1);
    if (size > row && scales.size(-1) == 1)
        size = row;
    TORCH_CHECK(row % size == 0, "quantized_decomposed: groups of ", size, " do not fill rows of ",
                row);
    return {input.reshape({-1, size}), scales.reshape({-1, 1}),
            zeroPoints ? zeroPoints->reshape({-1, 1}) : Tensor()};
}

Tensor quantizePerChannelGroup(const Tensor& input, const Tensor& scales, const Tensor& zeroPoints,
                               std::int64_t quantMin, std::int64_t quantMax, at::ScalarType dtype,
                               std::int64_t groupSize)
{
    checkRange(quantMin, quantMax, dtype);
    const Groups groups = groupsOf(input, scales, zeroPoints, groupSize);
    // Rounded after the zero point is added, unlike per channel.
    return groups.rows.mul(groups.scales.reciprocal())
        .add(groups.zeroPoints)
        .round_()
        .clamp_(quantMin, quantMax)
        .to(dtype)
        .reshape(input.sizes());
}

Tensor dequantizePerChannelGroup(const Tensor& input, const Tensor& scales,
                                 const std::optional<Tensor>& zeroPoints, std::int64_t quantMin,
                                 std::int64_t quantMax, at::ScalarType dtype,
                                 std::int64_t groupSize, at::ScalarType outputDtype)
{
    checkRange(quantMin, quantMax, dtype);
    const Groups groups = groupsOf(input, scales, zeroPoints, groupSize);
    const Tensor centred
        = groups.zeroPoints.defined() ? groups.rows.sub(groups.zeroPoints) : groups.rows;
    return centred.mul(groups.scales).reshape(input.sizes()).to(outputDtype);
}

// NOLINTEND(readability-function-size)

/// The range is extended to hold zero. Affine: scale = (max - min) / (qmax - qmin), at least eps;
/// symmetric: max|x| / ((qmax - qmin) / 2) around zero.
std::tuple<Tensor, Tensor> chooseTensor(const Tensor& input, std::int64_t quantMin,
                                        std::int64_t quantMax, double eps, at::ScalarType dtype,
                                        bool symmetric)
{
    TORCH_CHECK(quantMin <= 0 && quantMax >= 0 && quantMin < quantMax,
                "quantized_decomposed: the range must hold zero");
    TORCH_CHECK(integerBounds(dtype), "quantized_decomposed: cannot quantize to ", dtype);
    const auto [low, high] = input.aminmax();
    const Tensor zero = at::zeros_like(low);
    const Tensor min = at::minimum(low, zero);
    Tensor max = at::maximum(high, zero);
    const auto floats = at::TensorOptions(input.device()).dtype(at::kFloat);
    const Tensor smallest = at::full({1}, eps, floats);
    if (symmetric) {
        max = at::maximum(min.neg(), max);
        const Tensor scale = at::maximum(max / (double(quantMax - quantMin) / 2), smallest);
        return {scale.to(at::kDouble),
                at::full({1}, dtype == at::kByte ? 128 : 0, floats.dtype(at::kLong))};
    }
    const Tensor scale = at::maximum((max - min) / double(quantMax - quantMin), smallest);
    const Tensor shift = at::round(min / scale).to(at::kInt);
    return {scale.to(at::kDouble),
            at::clamp(at::rsub(shift, quantMin), quantMin, quantMax).to(at::kLong)};
}

std::tuple<Tensor, Tensor> chooseAffine(const Tensor& input, std::int64_t quantMin,
                                        std::int64_t quantMax, double eps, at::ScalarType dtype)
{
    return chooseTensor(input, quantMin, quantMax, eps, dtype, false);
}

std::tuple<Tensor, Tensor> chooseSymmetric(const Tensor& input, std::int64_t quantMin,
                                           std::int64_t quantMax, double eps, at::ScalarType dtype)
{
    return chooseTensor(input, quantMin, quantMax, eps, dtype, true);
}

/// Defines one operator unless another library, such as an embedding Python's, already has.
template<class Function>
void defineOnce(torch::Library& library, const char* name, const char* overload, const char* schema,
                Function&& function)
{
    const c10::OperatorName full(std::string("quantized_decomposed::") + name, overload);
    if (c10::Dispatcher::singleton().findSchema(full))
        return;
    library.def(schema);
    const std::string local = *overload ? std::string(name) + "." + overload : std::string(name);
    library.impl(local.c_str(),
                 torch::dispatch(c10::DispatchKey::CompositeExplicitAutograd,
                                 torch::CppFunction(std::forward<Function>(function))));
}

void defineAll(torch::Library& library)
{
    defineOnce(library, "quantize_per_tensor", "",
               "quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
               "int quant_max, ScalarType dtype) -> Tensor",
               &quantizePerTensor);
    defineOnce(library, "quantize_per_tensor", "tensor",
               "quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
               "int quant_min, int quant_max, ScalarType dtype) -> Tensor",
               &quantizePerTensorT);
    defineOnce(library, "dequantize_per_tensor", "",
               "dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
               "int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
               &dequantizePerTensor);
    defineOnce(library, "dequantize_per_tensor", "tensor",
               "dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
               "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> "
               "Tensor",
               &dequantizePerTensorT);
    defineOnce(library, "quantize_per_channel", "",
               "quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
               "int quant_min, int quant_max, ScalarType dtype) -> Tensor",
               &quantizePerChannel);
    defineOnce(library, "dequantize_per_channel", "",
               "dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, "
               "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> "
               "Tensor",
               &dequantizePerChannel);
    defineOnce(library, "quantize_per_channel_group", "",
               "quantize_per_channel_group(Tensor input, Tensor scales, Tensor zero_points, "
               "int quant_min, int quant_max, ScalarType dtype, int group_size) -> Tensor",
               &quantizePerChannelGroup);
    defineOnce(library, "dequantize_per_channel_group", "",
               "dequantize_per_channel_group(Tensor input, Tensor scales, Tensor? zero_points, "
               "int quant_min, int quant_max, ScalarType dtype, int group_size, "
               "ScalarType output_dtype) -> Tensor",
               &dequantizePerChannelGroup);
    defineOnce(library, "choose_qparams", "tensor",
               "choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, "
               "ScalarType dtype) -> (Tensor, Tensor)",
               &chooseAffine);
    defineOnce(library, "choose_qparams_symmetric", "tensor",
               "choose_qparams_symmetric.tensor(Tensor input, int quant_min, int quant_max, "
               "float eps, ScalarType dtype) -> (Tensor, Tensor)",
               &chooseSymmetric);
}

/// Registered as the library loads, like LibTorch's own operators, so that a file with these
/// operators runs whether or not anything was converted before.
[[maybe_unused]] const bool kRegistered = (registerQuantizedDecomposed(), true);

} // namespace

void registerQuantizedDecomposed()
{
    static torch::Library* const library = [] {
        // Never destroyed: operators may run until the process ends.
        auto* made = new torch::Library(torch::Library::FRAGMENT, "quantized_decomposed",
                                        std::nullopt, __FILE__, __LINE__);
        defineAll(*made);
        return made;
    }();
    (void)library;
}

} // namespace qs

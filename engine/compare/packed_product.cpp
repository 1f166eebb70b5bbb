// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/packed_product.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/op_table.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/cpu/Utils.h>

namespace qs {

namespace {

constexpr std::string_view kPackConv = "onednn.qconv_prepack.default";
constexpr std::string_view kPackLinear = "onednn.qlinear_prepack.default";
constexpr std::string_view kConv = "onednn.qconv2d_pointwise.default";
constexpr std::string_view kConvAdding = "onednn.qconv2d_pointwise.binary";
constexpr std::string_view kLinear = "onednn.qlinear_pointwise.default";
constexpr std::string_view kLinearAdding = "onednn.qlinear_pointwise.binary";

using Stack = torch::jit::Stack;

at::Tensor call(std::string_view target, Stack stack)
{
    findOperator(target)->callBoxed(stack);
    return stack.at(0).toTensor();
}

at::IValue orNone(const at::Tensor& tensor)
{
    return tensor.defined() ? at::IValue(tensor) : at::IValue();
}

at::IValue noScalars()
{
    return c10::impl::GenericList(c10::OptionalType::create(c10::NumberType::get()));
}

void append(Stack& stack, std::initializer_list<at::IValue> values)
{
    stack.insert(stack.end(), values);
}

/// Bytes without sign, as oneDNN's operators take them: signed ones move up.
std::int64_t shiftOf(const kernels::FakeQuant& grid)
{
    return grid.quantMin < 0 ? 128 : 0;
}

/// The sums of the largest products of two bytes, as exact as a float holds them: with older
/// instructions, which oneDNN can be told to use, they saturate.
Result<bool> sumsLargestProducts()
{
    const kernels::FakeQuant grid = kernels::makeFakeQuant(1, 0, 0, 255);
    const at::Tensor scales = at::ones({16});
    for (const int weight : {127, -128}) {
        const at::Tensor rows = at::full({16, 64}, 255, at::kByte);
        const WeightTerm matrix {at::full({16, 64}, weight, at::kChar), scales};
        const at::Tensor sums
            = PackedProduct({matrix}, std::nullopt, grid, rows.sizes()).run(rows, {});
        const at::Tensor images
            = at::full({1, 64, 8, 8}, 255, at::kByte).contiguous(at::MemoryFormat::ChannelsLast);
        const WeightTerm filter {at::full({16, 64, 3, 3}, weight, at::kChar), scales};
        const ConvGeometry geometry {{1, 1}, {0, 0}, {1, 1}, 1};
        const at::Tensor slid
            = PackedProduct({filter}, geometry, grid, images.sizes()).run(images, {});
        if (!sums.eq(255 * 64 * weight).all().item<bool>()
            || !slid.eq(255 * 64 * 9 * weight).all().item<bool>())
            return false;
    }
    return true;
}

} // namespace

bool multipliesBytes()
{
    static const bool can = [] {
        for (const auto target :
             {kPackConv, kPackLinear, kConv, kConvAdding, kLinear, kLinearAdding})
            if (!findOperator(target))
                return false;
        return at::cpu::is_avx512_vnni_supported()
            && guardTorchValue<bool>(sumsLargestProducts).value_or(false);
    }();
    return can;
}

PackedProduct::PackedProduct(const std::vector<WeightTerm>& terms,
                             std::optional<ConvGeometry> geometry, const kernels::FakeQuant& grid,
                             at::IntArrayRef inputShape)
    : m_geometry(std::move(geometry))
    , m_scale(grid.scale)
    , m_zeroPoint(std::int64_t(grid.zeroPoint) + shiftOf(grid))
{
    for (const WeightTerm& term : terms) {
        // The kernels read storage, not strides.
        const at::Tensor integers = term.integers.contiguous();
        const at::Tensor scales = term.scales.to(at::kFloat).contiguous();
        const at::Tensor packed = m_geometry
            ? call(kPackConv,
                   {integers, scales, m_scale, m_zeroPoint, m_geometry->stride, m_geometry->padding,
                    m_geometry->dilation, m_geometry->groups, inputShape.vec()})
            : call(kPackLinear, {integers, inputShape.vec()});
        m_terms.push_back({packed, scales, at::zeros({scales.numel()}, at::kInt)});
    }
}

at::Tensor PackedProduct::run(const at::Tensor& integers, const at::Tensor& bias) const
{
    at::Tensor sum, once = bias.defined() ? bias.contiguous() : bias;
    for (const Term& term : m_terms) {
        sum = m_geometry ? convolve(term, integers, once, sum)
                         : multiply(term, integers, once, sum);
        once = at::Tensor();
    }
    return sum;
}

at::Tensor PackedProduct::convolve(const Term& term, const at::Tensor& integers,
                                   const at::Tensor& bias, const at::Tensor& sum) const
{
    Stack stack {integers, m_scale, m_zeroPoint, term.packed, term.scales, term.zeroPoints};
    if (sum.defined())
        stack.push_back(sum);
    append(stack,
           {orNone(bias), m_geometry->stride, m_geometry->padding, m_geometry->dilation,
            m_geometry->groups, 1.0, std::int64_t(0), std::int64_t(at::kFloat)});
    if (!sum.defined()) {
        append(stack, {"none", noScalars(), ""});
        return call(kConv, std::move(stack));
    }
    append(stack, {1.0, std::int64_t(0), "sum", 1.0, "none", noScalars(), ""});
    return call(kConvAdding, std::move(stack));
}

at::Tensor PackedProduct::multiply(const Term& term, const at::Tensor& integers,
                                   const at::Tensor& bias, const at::Tensor& sum) const
{
    Stack stack {integers, m_scale, m_zeroPoint, term.packed, term.scales, term.zeroPoints};
    if (sum.defined())
        stack.push_back(sum);
    append(stack, {orNone(bias), 1.0, std::int64_t(0), std::int64_t(at::kFloat)});
    if (!sum.defined()) {
        append(stack, {"none", noScalars(), ""});
        return call(kLinear, std::move(stack));
    }
    append(stack, {1.0, std::int64_t(0), "sum", 1.0, "none", noScalars(), ""});
    return call(kLinearAdding, std::move(stack));
}

at::Tensor integersOf(const at::Tensor& values, const kernels::FakeQuant& grid)
{
    const bool readable = values.is_cpu() && values.scalar_type() == at::kFloat
        && values.is_non_overlapping_and_dense() && values.numel() > 0;
    if (!readable)
        return {};
    const at::Tensor integers = at::empty_like(values, values.options().dtype(at::kByte));
    const bool onGrid = kernels::gridIntegersCpu(
        values.const_data_ptr<float>(), values.numel(), grid, int(shiftOf(grid)),
        integers.mutable_data_ptr<std::uint8_t>(), at::get_num_threads());
    return onGrid ? integers : at::Tensor();
}

} // namespace qs

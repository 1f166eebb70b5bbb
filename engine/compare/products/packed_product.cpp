// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/products/packed_product.h"

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
    GridProduct linear, convolution;
    linear.grid = convolution.grid = kernels::makeFakeQuant(1, 0, 0, 255);
    convolution.geometry = {{1, 1}, {0, 0}, {1, 1}, 1};
    const at::Tensor scales = at::ones({16});
    for (const int weight : {127, -128}) {
        const at::Tensor rows = at::full({16, 64}, 255, at::kByte);
        const WeightTerm matrix {at::full({16, 64}, weight, at::kChar), scales};
        const at::Tensor sums = PackedProduct({matrix}, linear, rows.sizes()).run(rows, {});
        const at::Tensor images
            = at::full({1, 64, 8, 8}, 255, at::kByte).contiguous(at::MemoryFormat::ChannelsLast);
        const WeightTerm filter {at::full({16, 64, 3, 3}, weight, at::kChar), scales};
        const at::Tensor slid
            = PackedProduct({filter}, convolution, images.sizes()).run(images, {});
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

PackedProduct::PackedProduct(const std::vector<WeightTerm>& terms, const GridProduct& product,
                             at::IntArrayRef inputShape)
    : m_geometry(product.geometry)
    , m_scale(product.grid.scale)
    , m_zeroPoint(std::int64_t(product.grid.zeroPoint) + shiftOf(product.grid))
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
        sum = apply(term, integers, once, sum);
        once = at::Tensor();
    }
    return sum;
}

at::Tensor PackedProduct::apply(const Term& term, const at::Tensor& integers,
                                const at::Tensor& bias, const at::Tensor& sum) const
{
    const bool adds = sum.defined();
    Stack stack {integers, m_scale, m_zeroPoint, term.packed, term.scales, term.zeroPoints};
    if (adds)
        stack.push_back(sum);
    stack.push_back(bias.defined() ? at::IValue(bias) : at::IValue());
    if (m_geometry)
        append(stack,
               {m_geometry->stride, m_geometry->padding, m_geometry->dilation, m_geometry->groups});
    append(stack, {1.0, std::int64_t(0), std::int64_t(at::kFloat)}); // the result as it is
    if (adds)
        append(stack, {1.0, std::int64_t(0), "sum", 1.0});
    append(stack,
           {"none", c10::impl::GenericList(c10::OptionalType::create(c10::NumberType::get())), ""});
    if (m_geometry)
        return call(adds ? kConvAdding : kConv, std::move(stack));
    return call(adds ? kLinearAdding : kLinear, std::move(stack));
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

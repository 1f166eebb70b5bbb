// SPDX-License-Identifier: Apache-2.0
// An extension pack in one file: a float operator that torch.export and TorchScript see as one
// node, and the kernel on eight bits that stands for it in a lowered model, with the class that
// holds the kernel's packed weight.
#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

/// factor * (x W^T + b)
at::Tensor scaledLinear(const at::Tensor& x, const at::Tensor& weight,
                        const std::optional<at::Tensor>& bias, double factor)
{
    return at::linear(x, weight, bias).mul(factor);
}

/// The shape alone: what torch.export runs.
at::Tensor scaledLinearMeta(const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>&, double)
{
    auto sizes = x.sym_sizes().vec();
    sizes.back() = weight.sym_size(0);
    return x.new_empty_symint(sizes);
}

/// The weight as the kernel reads it: integers by output channel, with the scale of each.
struct PackedLinear : torch::CustomClassHolder
{
    PackedLinear(at::Tensor quantized, std::optional<at::Tensor> floatBias, double by)
        : weight(std::move(quantized))
        , bias(std::move(floatBias))
        , factor(by)
    {
        outputs = weight.size(0);
        const bool perChannel = weight.qscheme() == at::kPerChannelAffine;
        integers = weight.int_repr().to(at::kInt).contiguous();
        const at::Tensor zeros = perChannel ? weight.q_per_channel_zero_points().to(at::kInt)
                                            : at::full({outputs}, weight.q_zero_point(), at::kInt);
        integers.sub_(zeros.unsqueeze(1));
        const at::Tensor real = perChannel ? weight.q_per_channel_scales().to(at::kDouble)
                                           : at::full({outputs}, weight.q_scale(), at::kDouble);
        scales.assign(real.const_data_ptr<double>(), real.const_data_ptr<double>() + outputs);
    }

    at::Tensor weight;
    std::optional<at::Tensor> bias;
    double factor;
    at::Tensor integers;
    std::vector<double> scales;
    std::int64_t outputs = 0;
};
using Packed = c10::intrusive_ptr<PackedLinear>;

Packed scaledLinearPrepack(const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                           double factor)
{
    TORCH_CHECK(weight.is_quantized() && weight.dim() == 2, "a quantized matrix is wanted");
    return c10::make_intrusive<PackedLinear>(weight, bias, factor);
}

/// The products are summed as integers; one rounding at the end.
at::Tensor scaledLinearInt8(const at::Tensor& x, const Packed& packed, double outputScale,
                            std::int64_t outputZeroPoint)
{
    const std::int64_t inner = packed->integers.size(1), outer = packed->outputs;
    TORCH_CHECK(x.size(-1) == inner, "the input has ", x.size(-1), " features, the weight ", inner);
    const at::Tensor input = x.int_repr().to(at::kInt).sub_(x.q_zero_point()).contiguous();
    auto sizes = x.sizes().vec();
    sizes.back() = outer;
    const bool isSigned = x.scalar_type() == at::kQInt8;
    at::Tensor stored = at::empty(sizes, isSigned ? at::kChar : at::kByte);
    const at::Tensor bias = packed->bias ? packed->bias->to(at::kDouble).contiguous()
                                         : at::zeros({outer}, at::kDouble);
    const auto* in = input.const_data_ptr<int>();
    const auto* weight = packed->integers.const_data_ptr<int>();
    const double low = isSigned ? -128 : 0, high = low + 255;
    for (std::int64_t row = 0; row < input.numel() / inner; ++row)
        for (std::int64_t o = 0; o < outer; ++o) {
            std::int64_t sum = 0;
            for (std::int64_t i = 0; i < inner; ++i)
                sum += std::int64_t(in[row * inner + i]) * weight[o * inner + i];
            const double real = (double(sum) * x.q_scale() * packed->scales[std::size_t(o)]
                                 + bias.const_data_ptr<double>()[o])
                * packed->factor;
            const double level = std::clamp(
                std::nearbyint(real / outputScale) + double(outputZeroPoint), low, high);
            if (isSigned)
                stored.data_ptr<std::int8_t>()[row * outer + o] = std::int8_t(level);
            else
                stored.data_ptr<std::uint8_t>()[row * outer + o] = std::uint8_t(level);
        }
    return at::_make_per_tensor_quantized_tensor(stored, outputScale, outputZeroPoint);
}

/// Swaps the halves of the last dimension: moves values, computes nothing.
at::Tensor swapHalves(const at::Tensor& x)
{
    return at::roll(x, {x.size(-1) / 2}, {-1});
}

using State = std::tuple<at::Tensor, std::optional<at::Tensor>, double>;

TORCH_LIBRARY(mypack, m)
{
    m.class_<PackedLinear>("PackedLinear")
        .def_pickle(
            [](const Packed& self) {
                return State {self->weight, self->bias, self->factor};
            },
            [](const State& state) {
                return c10::make_intrusive<PackedLinear>(std::get<0>(state), std::get<1>(state),
                                                         std::get<2>(state));
            });
    m.def("scaled_linear(Tensor x, Tensor weight, Tensor? bias, float factor=1.0) -> Tensor");
    m.def("scaled_linear_prepack(Tensor weight, Tensor? bias, float factor) -> "
          "__torch__.torch.classes.mypack.PackedLinear");
    m.def("scaled_linear_int8(Tensor x, __torch__.torch.classes.mypack.PackedLinear packed, float "
          "output_scale, "
          "int output_zero_point) -> Tensor");
    m.def("swap_halves(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(mypack, CPU, m)
{
    m.impl("scaled_linear", &scaledLinear);
    m.impl("swap_halves", &swapHalves);
}

TORCH_LIBRARY_IMPL(mypack, Meta, m)
{
    m.impl("scaled_linear", &scaledLinearMeta);
    m.impl("swap_halves", [](const at::Tensor& x) { return at::empty_like(x); });
}

TORCH_LIBRARY_IMPL(mypack, QuantizedCPU, m)
{
    m.impl("scaled_linear_prepack", &scaledLinearPrepack);
    m.impl("scaled_linear_int8", &scaledLinearInt8);
    m.impl("swap_halves", [](const at::Tensor& x) {
        return at::_make_per_tensor_quantized_tensor(swapHalves(x.int_repr()), x.q_scale(),
                                                     x.q_zero_point());
    });
}

} // namespace

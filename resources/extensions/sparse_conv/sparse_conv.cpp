// SPDX-License-Identifier: Apache-2.0
// Sparse convolutions as an extension pack. A value is known at sites alone: features [sites,
// channels] and indices [sites, 3], each site an image's number, a row and a column. The kernel on
// eight bits has the ReLU after the convolution in it.
#include <ATen/ATen.h>
#include <torch/custom_class.h>
#include <torch/library.h>

#include <unordered_map>
#include <vector>

namespace {

std::int64_t keyOf(std::int64_t image, std::int64_t row, std::int64_t column)
{
    constexpr std::int64_t kSide = 1 << 20;
    return (image * kSide + row) * kSide + column;
}

/// Which site flows into which through one element of the filter.
struct Pairs
{
    at::Tensor from, to;
};

/// For each element of the filter, row by row.
std::vector<Pairs> pairsOf(const at::Tensor& indices, const at::Tensor& outIndices,
                           std::int64_t side, std::int64_t stride, std::int64_t padding)
{
    const at::Tensor in = indices.to(at::kLong).contiguous(),
                     out = outIndices.to(at::kLong).contiguous();
    const auto* place = in.const_data_ptr<std::int64_t>();
    std::unordered_map<std::int64_t, std::int64_t> siteAt;
    for (std::int64_t site = 0; site < in.size(0); ++site)
        siteAt[keyOf(place[3 * site], place[3 * site + 1], place[3 * site + 2])] = site;
    place = out.const_data_ptr<std::int64_t>();
    std::vector<Pairs> pairs;
    for (std::int64_t y = 0; y < side; ++y)
        for (std::int64_t x = 0; x < side; ++x) {
            std::vector<std::int64_t> from, to;
            for (std::int64_t site = 0; site < out.size(0); ++site) {
                const std::int64_t row = place[3 * site + 1] * stride + y - padding,
                                   column = place[3 * site + 2] * stride + x - padding;
                const auto found = row < 0 || column < 0
                    ? siteAt.end()
                    : siteAt.find(keyOf(place[3 * site], row, column));
                if (found == siteAt.end())
                    continue;
                from.push_back(found->second);
                to.push_back(site);
            }
            pairs.push_back({at::tensor(from, at::kLong), at::tensor(to, at::kLong)});
        }
    return pairs;
}

/// Sums of products, [out sites, out channels], of a filter [out, in, side, side].
at::Tensor convolved(const at::Tensor& features, const at::Tensor& weight,
                     const std::vector<Pairs>& pairs, std::int64_t sites)
{
    at::Tensor sums = at::zeros({sites, weight.size(0)}, features.options());
    const at::Tensor elements = weight.flatten(2).permute({2, 1, 0}).contiguous();
    for (std::size_t i = 0; i < pairs.size(); ++i)
        if (pairs[i].from.numel() > 0)
            sums.index_add_(
                0, pairs[i].to,
                at::mm(features.index_select(0, pairs[i].from), elements[std::int64_t(i)]));
    return sums;
}

at::Tensor conv2d(const at::Tensor& features, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias, const at::Tensor& indices,
                  const at::Tensor& outIndices, std::int64_t stride, std::int64_t padding)
{
    const auto pairs = pairsOf(indices, outIndices, weight.size(2), stride, padding);
    const at::Tensor sums = convolved(features, weight, pairs, outIndices.size(0));
    return bias ? sums + *bias : sums;
}

/// Zeros where there is no site: [images, channels, rows, columns].
at::Tensor dense(const at::Tensor& features, const at::Tensor& indices, at::IntArrayRef shape,
                 std::int64_t images)
{
    at::Tensor out = at::zeros({images, features.size(1), shape[0], shape[1]}, features.options());
    const at::Tensor place = indices.to(at::kLong);
    out.permute({0, 2, 3, 1})
        .index_put_({place.select(1, 0), place.select(1, 1), place.select(1, 2)}, features);
    return out;
}

struct PackedSparseConv : torch::CustomClassHolder
{
    PackedSparseConv(at::Tensor quantized, std::optional<at::Tensor> floatBias)
        : weight(std::move(quantized))
        , bias(std::move(floatBias))
        // Whole numbers in doubles: LibTorch multiplies those fast, and they stay exact.
        , integers(weight.int_repr().to(at::kDouble))
        , scales(weight.qscheme() == at::kPerChannelAffine
                     ? weight.q_per_channel_scales().to(at::kDouble)
                     : at::full({weight.size(0)}, weight.q_scale(), at::kDouble))
    {
    }
    at::Tensor weight;
    std::optional<at::Tensor> bias;
    at::Tensor integers, scales;
};
using Packed = c10::intrusive_ptr<PackedSparseConv>;

/// The values of the result before they are rounded; weights are symmetric.
at::Tensor conv2dReluInt8(const at::Tensor& features, const Packed& packed,
                          const at::Tensor& indices, const at::Tensor& outIndices,
                          std::int64_t stride, std::int64_t padding, double outputScale,
                          std::int64_t outputZeroPoint)
{
    const auto pairs = pairsOf(indices, outIndices, packed->weight.size(2), stride, padding);
    const at::Tensor input = features.int_repr().to(at::kDouble) - double(features.q_zero_point());
    at::Tensor real = convolved(input, packed->integers, pairs, outIndices.size(0))
        * (packed->scales * features.q_scale());
    if (packed->bias)
        real = real + packed->bias->to(at::kDouble);
    const bool isSigned = features.scalar_type() == at::kQInt8;
    const double low = isSigned ? -128 : 0;
    const at::Tensor level
        = (real.relu() / outputScale).round_().add_(double(outputZeroPoint)).clamp_(low, low + 255);
    return at::_make_per_tensor_quantized_tensor(level.to(isSigned ? at::kChar : at::kByte),
                                                 outputScale, outputZeroPoint);
}

using State = std::tuple<at::Tensor, std::optional<at::Tensor>>;

TORCH_LIBRARY(sparse_conv, m)
{
    m.class_<PackedSparseConv>("PackedSparseConv")
        .def_pickle(
            [](const Packed& self) {
                return State {self->weight, self->bias};
            },
            [](const State& state) {
                return c10::make_intrusive<PackedSparseConv>(std::get<0>(state),
                                                             std::get<1>(state));
            });
    m.def("conv2d(Tensor features, Tensor weight, Tensor? bias, Tensor indices, Tensor "
          "out_indices, int stride=1, int padding=0) "
          "-> Tensor");
    m.def("dense(Tensor features, Tensor indices, int[] spatial_shape, int batch_size) -> Tensor");
    m.def("conv2d_prepack(Tensor weight, Tensor? bias) -> "
          "__torch__.torch.classes.sparse_conv.PackedSparseConv");
    m.def("conv2d_relu_int8(Tensor features, __torch__.torch.classes.sparse_conv.PackedSparseConv "
          "packed, Tensor indices, "
          "Tensor out_indices, int stride, int padding, float output_scale, int output_zero_point) "
          "-> Tensor");
}

TORCH_LIBRARY_IMPL(sparse_conv, CPU, m)
{
    m.impl("conv2d", &conv2d);
    m.impl("dense", &dense);
}

TORCH_LIBRARY_IMPL(sparse_conv, Meta, m)
{
    m.impl("conv2d",
           [](const at::Tensor& features, const at::Tensor& weight,
              const std::optional<at::Tensor>&, const at::Tensor&, const at::Tensor& outIndices,
              std::int64_t, std::int64_t) {
               return features.new_empty_symint({outIndices.sym_size(0), weight.sym_size(0)});
           });
    m.impl("dense",
           [](const at::Tensor& features, const at::Tensor&, at::IntArrayRef shape,
              std::int64_t images) {
               return features.new_empty_symint({images, features.sym_size(1), shape[0], shape[1]});
           });
}

TORCH_LIBRARY_IMPL(sparse_conv, QuantizedCPU, m)
{
    m.impl("conv2d_prepack", [](const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
        return c10::make_intrusive<PackedSparseConv>(weight, bias);
    });
    m.impl("conv2d_relu_int8", &conv2dReluInt8);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// The operators on tensors of any device: `run(element, count)` computes so many elements there.
#pragma once

#include "sparse_conv_elements.h"

#include <ATen/ATen.h>
#include <torch/custom_class.h>

#include <optional>

namespace sparse_conv {

/// A filter as the elements read it: [out, taps, in].
inline at::Tensor arranged(const at::Tensor& weight)
{
    return weight.flatten(2).permute({0, 2, 1}).contiguous();
}

/// For each site of the result and each tap of the filter, row by row, which site flows in; -1 for
/// none.
inline at::Tensor neighbours(const at::Tensor& indices, const at::Tensor& outIndices,
                             std::int64_t side, std::int64_t stride, std::int64_t padding)
{
    constexpr std::int64_t kSide = 1 << 20;
    const auto keyOf
        = [](const at::Tensor& image, const at::Tensor& row, const at::Tensor& column) {
              return (image * kSide + row) * kSide + column;
          };
    const at::Tensor in = indices.to(at::kLong), out = outIndices.to(at::kLong);
    const at::Tensor tap = at::arange(side * side, out.options());
    const at::Tensor row = out.narrow(1, 1, 1) * stride + tap.div(side, "floor") - padding;
    const at::Tensor column = out.narrow(1, 2, 1) * stride + tap.remainder(side) - padding;
    if (in.size(0) == 0)
        return at::full_like(row, -1);
    const at::Tensor wanted = keyOf(out.narrow(1, 0, 1), row, column);
    const auto [keys, order] = keyOf(in.select(1, 0), in.select(1, 1), in.select(1, 2)).sort();
    const at::Tensor place = at::searchsorted(keys, wanted).clamp_max(in.size(0) - 1);
    const at::Tensor isThere
        = (keys.take(place) == wanted).logical_and(row >= 0).logical_and(column >= 0);
    return at::where(isThere, order.take(place), at::full_like(place, -1)).contiguous();
}

inline const float* dataOf(const std::optional<at::Tensor>& bias)
{
    return bias ? bias->const_data_ptr<float>() : nullptr;
}

template<class Run>
at::Tensor conv2d(const at::Tensor& features, const at::Tensor& weight,
                  const std::optional<at::Tensor>& bias, const at::Tensor& indices,
                  const at::Tensor& outIndices, std::int64_t stride, std::int64_t padding,
                  const Run& run)
{
    const at::Tensor from = neighbours(indices, outIndices, weight.size(2), stride, padding);
    const at::Tensor input = features.contiguous(), filter = arranged(weight);
    const auto added = bias ? std::optional(bias->contiguous()) : std::nullopt;
    at::Tensor result = at::empty({from.size(0), weight.size(0)}, features.options());
    run(FloatElement {{input.const_data_ptr<float>(), filter.const_data_ptr<float>(),
                       from.const_data_ptr<std::int64_t>(), from.size(1), weight.size(1),
                       weight.size(0)},
                      dataOf(added),
                      result.mutable_data_ptr<float>()},
        result.numel());
    return result;
}

/// Zeros where there is no site: [images, channels, rows, columns].
inline at::Tensor dense(const at::Tensor& features, const at::Tensor& indices,
                        at::IntArrayRef shape, std::int64_t images)
{
    at::Tensor out = at::zeros({images, features.size(1), shape[0], shape[1]}, features.options());
    const at::Tensor place = indices.to(at::kLong);
    out.permute({0, 2, 3, 1})
        .index_put_({place.select(1, 0), place.select(1, 1), place.select(1, 2)}, features);
    return out;
}

/// A weight on eight bits as the kernel reads it.
struct PackedSparseConv : torch::CustomClassHolder
{
    PackedSparseConv(at::Tensor quantized, std::optional<at::Tensor> floatBias)
        : weight(std::move(quantized))
        , bias(std::move(floatBias))
        , integers(arranged(weight.int_repr()))
        , scales(weight.qscheme() == at::kPerChannelAffine
                     ? weight.q_per_channel_scales().to(at::kDouble).contiguous()
                     : at::full({weight.size(0)}, weight.q_scale(), at::kDouble))
    {
    }
    at::Tensor weight;
    std::optional<at::Tensor> bias;
    at::Tensor integers, scales;
};
using Packed = c10::intrusive_ptr<PackedSparseConv>;

inline Packed prepack(const at::Tensor& weight, const std::optional<at::Tensor>& bias)
{
    return c10::make_intrusive<PackedSparseConv>(weight, bias);
}

template<class Level, class Run>
at::Tensor levels(const at::Tensor& features, const PackedSparseConv& packed,
                  const at::Tensor& from, double outputScale, std::int64_t outputZeroPoint,
                  double low, const Run& run)
{
    const at::Device device = features.device();
    const at::Tensor input = features.int_repr().contiguous();
    const at::Tensor integers = packed.integers.to(device), scales = packed.scales.to(device);
    const auto bias
        = packed.bias ? std::optional(packed.bias->to(device).contiguous()) : std::nullopt;
    at::Tensor result = at::empty({from.size(0), packed.weight.size(0)}, input.options());
    run(Int8Element<Level> {{input.const_data_ptr<Level>(), integers.const_data_ptr<std::int8_t>(),
                             from.const_data_ptr<std::int64_t>(), from.size(1),
                             packed.weight.size(1), packed.weight.size(0)},
                            dataOf(bias),
                            scales.const_data_ptr<double>(),
                            features.q_scale(),
                            features.q_zero_point(),
                            outputScale,
                            outputZeroPoint,
                            low,
                            low + 255,
                            result.mutable_data_ptr<Level>()},
        result.numel());
    return result;
}

template<class Run>
at::Tensor conv2dReluInt8(const at::Tensor& features, const Packed& packed,
                          const at::Tensor& indices, const at::Tensor& outIndices,
                          std::int64_t stride, std::int64_t padding, double outputScale,
                          std::int64_t outputZeroPoint, const Run& run)
{
    const at::Tensor from
        = neighbours(indices, outIndices, packed->weight.size(2), stride, padding);
    const at::Tensor made = features.scalar_type() == at::kQInt8
        ? levels<std::int8_t>(features, *packed, from, outputScale, outputZeroPoint, -128, run)
        : levels<std::uint8_t>(features, *packed, from, outputScale, outputZeroPoint, 0, run);
    return at::_make_per_tensor_quantized_tensor(made, outputScale, outputZeroPoint);
}

} // namespace sparse_conv

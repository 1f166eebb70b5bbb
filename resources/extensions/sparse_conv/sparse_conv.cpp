// SPDX-License-Identifier: Apache-2.0
// Sparse convolutions as an extension pack. A value is known at sites alone: features [sites,
// channels] and indices [sites, 3], each site an image's number, a row and a column. The kernel on
// eight bits has the ReLU after the convolution in it.
#include "sparse_conv.h"

#include <ATen/Parallel.h>
#include <torch/library.h>

#include <tuple>

namespace sparse_conv {

namespace {

using State = std::tuple<at::Tensor, std::optional<at::Tensor>>;

constexpr auto kOnCpu = [](const auto& element, std::int64_t count) {
    at::parallel_for(0, count, 1024, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            element(i);
    });
};

TORCH_LIBRARY(sparse_conv, m)
{
    m.class_<PackedSparseConv>("PackedSparseConv")
        .def_pickle(
            [](const Packed& self) {
                return State {self->weight, self->bias};
            },
            [](const State& state) { return prepack(std::get<0>(state), std::get<1>(state)); });
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
    m.impl("conv2d",
           [](const at::Tensor& features, const at::Tensor& weight,
              const std::optional<at::Tensor>& bias, const at::Tensor& indices,
              const at::Tensor& outIndices, std::int64_t stride, std::int64_t padding) {
               return conv2d(features, weight, bias, indices, outIndices, stride, padding, kOnCpu);
           });
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
    m.impl("conv2d_prepack", &prepack);
    m.impl("conv2d_relu_int8",
           [](const at::Tensor& features, const Packed& packed, const at::Tensor& indices,
              const at::Tensor& outIndices, std::int64_t stride, std::int64_t padding,
              double outputScale, std::int64_t outputZeroPoint) {
               return conv2dReluInt8(features, packed, indices, outIndices, stride, padding,
                                     outputScale, outputZeroPoint, kOnCpu);
           });
}

} // namespace

} // namespace sparse_conv

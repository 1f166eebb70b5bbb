// SPDX-License-Identifier: Apache-2.0
// A separate library holds the operators' CUDA kernels. The library beside it defines the
// operators, is loaded first and runs without this one.
#include "sparse_conv_cuda.h"

#include "sparse_conv.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

namespace sparse_conv {

namespace {

constexpr auto kOnCuda = [](const auto& element, std::int64_t count) {
    runOnCuda(element, count, c10::cuda::getCurrentCUDAStream().stream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
};

TORCH_LIBRARY_IMPL(sparse_conv, CUDA, m)
{
    m.impl("conv2d",
           [](const at::Tensor& features, const at::Tensor& weight,
              const std::optional<at::Tensor>& bias, const at::Tensor& indices,
              const at::Tensor& outIndices, std::int64_t stride, std::int64_t padding) {
               const c10::cuda::CUDAGuard guard(features.device());
               return conv2d(features, weight, bias, indices, outIndices, stride, padding, kOnCuda);
           });
    m.impl("dense", &dense);
}

TORCH_LIBRARY_IMPL(sparse_conv, QuantizedCUDA, m)
{
    m.impl("conv2d_prepack", &prepack);
    m.impl("conv2d_relu_int8",
           [](const at::Tensor& features, const Packed& packed, const at::Tensor& indices,
              const at::Tensor& outIndices, std::int64_t stride, std::int64_t padding,
              double outputScale, std::int64_t outputZeroPoint) {
               const c10::cuda::CUDAGuard guard(features.device());
               return conv2dReluInt8(features, packed, indices, outIndices, stride, padding,
                                     outputScale, outputZeroPoint, kOnCuda);
           });
}

} // namespace

} // namespace sparse_conv

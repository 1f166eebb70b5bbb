// SPDX-License-Identifier: Apache-2.0
// A thread for each element.
#include "sparse_conv_cuda.h"

#include <cuda_runtime.h>

namespace sparse_conv {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 1 << 20;

template<class Element>
__global__ void eachElement(Element element, std::int64_t count)
{
    const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        element(i);
}

template<class Element>
void launch(const Element& element, std::int64_t count, void* stream)
{
    if (count == 0)
        return;
    const std::int64_t blocks = (count + kThreads - 1) / kThreads;
    eachElement<<<unsigned(blocks < kMostBlocks ? blocks : kMostBlocks), kThreads, 0,
                  static_cast<cudaStream_t>(stream)>>>(element, count);
}

} // namespace

void runOnCuda(const FloatElement& element, std::int64_t count, void* stream)
{
    launch(element, count, stream);
}
void runOnCuda(const Int8Element<std::int8_t>& element, std::int64_t count, void* stream)
{
    launch(element, count, stream);
}
void runOnCuda(const Int8Element<std::uint8_t>& element, std::int64_t count, void* stream)
{
    launch(element, count, stream);
}

} // namespace sparse_conv

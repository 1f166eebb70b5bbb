// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/fake_quant.h"
#include "engine/kernels/launch.cuh"

namespace qs::kernels {

namespace {

__global__ void fakeQuantizeAll(const float* data, std::int64_t count, FakeQuant q, float* out)
{
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride)
        out[i] = fakeQuantize(data[i], q);
}

} // namespace

void fakeQuantCuda(const float* data, std::int64_t count, const FakeQuant& q, float* out,
                   Stream stream)
{
    if (count > 0)
        fakeQuantizeAll<<<blockCount(count), kBlockSize, 0, asStream(stream)>>>(data, count, q,
                                                                                out);
}

} // namespace qs::kernels

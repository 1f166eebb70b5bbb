// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/error_stats.h"
#include "engine/kernels/launch.cuh"

namespace qs::kernels {

namespace {

static_assert(kErrorSumsScratch >= kMaxBlocks, "one partial sum a block");

// Reduces the threads' sums in a fixed tree order, so that results are bit-identical.
__device__ void reduceBlock(ErrorSums* sums)
{
    for (int half = kBlockSize / 2; half > 0; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half)
            merge(sums[threadIdx.x], sums[threadIdx.x + half]);
    }
}

__global__ void sumPairs(const float* signal, const float* other, std::int64_t count,
                         ErrorSums* partial)
{
    __shared__ alignas(8) unsigned char storage[kBlockSize * sizeof(ErrorSums)];
    auto* sums = reinterpret_cast<ErrorSums*>(storage);
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    ErrorSums mine;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride)
        include(mine, signal[i], other[i]);
    sums[threadIdx.x] = mine;
    reduceBlock(sums);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sums[0];
}

__global__ void sumPartials(const ErrorSums* partial, int count, ErrorSums* out)
{
    __shared__ alignas(8) unsigned char storage[kBlockSize * sizeof(ErrorSums)];
    auto* sums = reinterpret_cast<ErrorSums*>(storage);
    ErrorSums mine;
    for (int i = int(threadIdx.x); i < count; i += kBlockSize)
        merge(mine, partial[i]);
    sums[threadIdx.x] = mine;
    reduceBlock(sums);
    if (threadIdx.x == 0)
        *out = sums[0];
}

} // namespace

void errorSumsCuda(const float* signal, const float* other, std::int64_t count, ErrorSums* scratch,
                   ErrorSums* out, Stream stream)
{
    const int blocks = blockCount(count);
    sumPairs<<<blocks, kBlockSize, 0, asStream(stream)>>>(signal, other, count, scratch);
    sumPartials<<<1, kBlockSize, 0, asStream(stream)>>>(scratch, blocks, out);
}

} // namespace qs::kernels

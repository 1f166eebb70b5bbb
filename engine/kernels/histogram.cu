// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/histogram.h"
#include "engine/kernels/launch.cuh"

namespace qs::kernels {

namespace {

/// Shared memory every supported card gives without asking.
constexpr std::int64_t kSharedBytes = 48 * 1024;

// Where the edges come from: given, or found on the device a moment ago.
struct EdgeSource
{
    HistogramEdges edges;
    const MinMaxKeys* keys;
};

__device__ HistogramEdges resolve(const EdgeSource& source)
{
    if (source.keys == nullptr)
        return source.edges;
    return histogramEdges(fromOrderedKey(source.keys->minKey), fromOrderedKey(source.keys->maxKey));
}

// Counts in shared memory, one table a block; a block sees at most count / kMaxBlocks values or so,
// far below what 32 bits hold.
__global__ void countShared(const float* data, std::int64_t count, EdgeSource source,
                            std::int32_t bins, unsigned long long* counts)
{
    extern __shared__ unsigned int table[];
    for (std::int32_t bin = threadIdx.x; bin < bins; bin += blockDim.x)
        table[bin] = 0;
    __syncthreads();
    const HistogramEdges edges = resolve(source);
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        const std::int32_t bin = histogramBin(data[i], edges, bins);
        if (bin < bins)
            atomicAdd(&table[bin], 1u);
    }
    __syncthreads();
    for (std::int32_t bin = threadIdx.x; bin < bins; bin += blockDim.x)
        if (table[bin] > 0)
            atomicAdd(&counts[bin], static_cast<unsigned long long>(table[bin]));
}

// For more bins than shared memory holds.
__global__ void countGlobal(const float* data, std::int64_t count, EdgeSource source,
                            std::int32_t bins, unsigned long long* counts)
{
    const HistogramEdges edges = resolve(source);
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        const std::int32_t bin = histogramBin(data[i], edges, bins);
        if (bin < bins)
            atomicAdd(&counts[bin], 1ull);
    }
}

void launch(const float* data, std::int64_t count, EdgeSource source, std::int32_t bins,
            unsigned long long* counts, Stream stream)
{
    if (count <= 0)
        return;
    const std::int64_t bytes = std::int64_t(bins) * std::int64_t(sizeof(unsigned int));
    const int blocks = blockCount(count);
    if (bytes <= kSharedBytes)
        countShared<<<blocks, kBlockSize, std::size_t(bytes), asStream(stream)>>>(
            data, count, source, bins, counts);
    else
        countGlobal<<<blocks, kBlockSize, 0, asStream(stream)>>>(data, count, source, bins, counts);
}

} // namespace

void histogramCuda(const float* data, std::int64_t count, HistogramEdges edges, std::int32_t bins,
                   unsigned long long* counts, Stream stream)
{
    launch(data, count, {edges, nullptr}, bins, counts, stream);
}

void histogramOverKeysCuda(const float* data, std::int64_t count, const MinMaxKeys* keys,
                           std::int32_t bins, unsigned long long* counts, Stream stream)
{
    launch(data, count, {{}, keys}, bins, counts, stream);
}

} // namespace qs::kernels

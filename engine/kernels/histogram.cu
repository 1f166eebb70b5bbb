// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/histogram.h"
#include "engine/kernels/launch.cuh"
#include "engine/kernels/min_max.cuh"

namespace qs::kernels {

namespace {

/// Shared memory every supported card gives without asking.
constexpr std::int64_t kSharedBytes = 48 * 1024;

__device__ bool isEmpty(const MinMaxKeys& range)
{
    return range.minKey > range.maxKey;
}

// Edges of a range; nothing lies inside those of an empty one.
__device__ HistogramEdges edgesOf(const MinMaxKeys& range)
{
    return isEmpty(range)
        ? HistogramEdges {1.0f, 0.0f}
        : histogramEdges(fromOrderedKey(range.minKey), fromOrderedKey(range.maxKey));
}

__device__ bool hasGrown(const DeviceLook& look)
{
    return look.known->minKey != look.grown->minKey || look.known->maxKey != look.grown->maxKey;
}

// One block's counts. In shared memory where the bins fit (a block sees at most count / kMaxBlocks
// values or so, far below what 32 bits hold), else straight into the result.
template<bool kShared>
class BlockCounts
{
public:
    __device__ BlockCounts(std::int32_t bins, unsigned long long* counts)
        : m_bins(bins)
        , m_counts(counts)
    {
        if (kShared)
            for (std::int32_t bin = threadIdx.x; bin < bins; bin += blockDim.x)
                table()[bin] = 0;
        __syncthreads();
    }
    __device__ void add(std::int32_t bin)
    {
        if (bin >= m_bins)
            return;
        if (kShared)
            atomicAdd(&table()[bin], 1u);
        else
            atomicAdd(&m_counts[bin], 1ull);
    }
    __device__ void flush()
    {
        __syncthreads();
        if (kShared)
            for (std::int32_t bin = threadIdx.x; bin < m_bins; bin += blockDim.x)
                if (table()[bin] > 0)
                    atomicAdd(&m_counts[bin], static_cast<unsigned long long>(table()[bin]));
    }

private:
    __device__ static unsigned int* table()
    {
        extern __shared__ unsigned int shared[];
        return shared;
    }
    std::int32_t m_bins;
    unsigned long long* m_counts;
};

template<bool kShared>
__device__ void countAll(const float* data, std::int64_t count, HistogramEdges edges,
                         std::int32_t bins, unsigned long long* counts)
{
    BlockCounts<kShared> block(bins, counts);
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride)
        block.add(histogramBin(data[i], edges, bins));
    block.flush();
}

template<bool kShared>
__global__ void countOver(const float* data, std::int64_t count, HistogramEdges edges,
                          std::int32_t bins, unsigned long long* counts)
{
    countAll<kShared>(data, count, edges, bins, counts);
}

__global__ void startLook(DeviceLook look)
{
    *look.seen = MinMaxKeys {0xffffffffu, 0u, 0ull};
}

// Extremes, and counts over the range known before.
template<bool kShared>
__global__ void scanAndCount(const float* data, std::int64_t count, DeviceLook look)
{
    BlockCounts<kShared> block(look.bins, look.counts);
    const HistogramEdges edges = edgesOf(*look.known);
    MinMax mine;
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        include(mine, data[i]);
        block.add(histogramBin(data[i], edges, look.bins));
    }
    block.flush();
    publish(mine, look.seen);
}

// The grown range; the counts over the old one are dropped where it did grow. One block.
__global__ void growRange(DeviceLook look)
{
    if (threadIdx.x == 0) {
        const MinMaxKeys known = *look.known, seen = *look.seen;
        look.grown->minKey = seen.minKey < known.minKey ? seen.minKey : known.minKey;
        look.grown->maxKey = seen.maxKey > known.maxKey ? seen.maxKey : known.maxKey;
        look.grown->nonFinite = seen.nonFinite + known.nonFinite;
    }
    __syncthreads();
    if (hasGrown(look))
        for (std::int32_t bin = threadIdx.x; bin < look.bins; bin += blockDim.x)
            look.counts[bin] = 0;
}

template<bool kShared>
__global__ void countIfGrown(const float* data, std::int64_t count, DeviceLook look)
{
    if (hasGrown(look))
        countAll<kShared>(data, count, edgesOf(*look.grown), look.bins, look.counts);
}

template<bool kShared>
void launchLook(const float* data, std::int64_t count, DeviceLook look, std::size_t bytes,
                cudaStream_t stream)
{
    const int blocks = blockCount(count);
    startLook<<<1, 1, 0, stream>>>(look);
    scanAndCount<kShared><<<blocks, kBlockSize, bytes, stream>>>(data, count, look);
    growRange<<<1, kBlockSize, 0, stream>>>(look);
    countIfGrown<kShared><<<blocks, kBlockSize, bytes, stream>>>(data, count, look);
}

std::size_t tableBytes(std::int32_t bins)
{
    return std::size_t(bins) * sizeof(unsigned int);
}

} // namespace

void histogramCuda(const float* data, std::int64_t count, HistogramEdges edges, std::int32_t bins,
                   unsigned long long* counts, Stream stream)
{
    if (count <= 0)
        return;
    const std::size_t bytes = tableBytes(bins);
    const int blocks = blockCount(count);
    if (bytes <= kSharedBytes)
        countOver<true>
            <<<blocks, kBlockSize, bytes, asStream(stream)>>>(data, count, edges, bins, counts);
    else
        countOver<false>
            <<<blocks, kBlockSize, 0, asStream(stream)>>>(data, count, edges, bins, counts);
}

void observeCuda(const float* data, std::int64_t count, DeviceLook look, Stream stream)
{
    const std::size_t bytes = tableBytes(look.bins);
    if (bytes <= kSharedBytes)
        launchLook<true>(data, count, look, bytes, asStream(stream));
    else
        launchLook<false>(data, count, look, 0, asStream(stream));
}

} // namespace qs::kernels

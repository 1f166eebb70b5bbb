// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/histogram.h"
#include "engine/kernels/launch.cuh"
#include "engine/kernels/min_max.cuh"

namespace qs::kernels {

namespace {

/// Shared memory available on every supported GPU without opt-in.
constexpr std::int64_t kSharedBytes = 48 * 1024;

__device__ bool isEmpty(const MinMaxKeys& range)
{
    return range.minKey > range.maxKey;
}

// Returns the edges of a range; those of an empty range contain no value.
__device__ HistogramEdges edgesOf(const MinMaxKeys& range)
{
    return isEmpty(range)
        ? HistogramEdges {1.0f, 0.0f}
        : histogramEdges(fromOrderedKey(range.minKey), fromOrderedKey(range.maxKey));
}

__device__ bool hasGrown(const DeviceObservation& observation)
{
    return observation.known->minKey != observation.grown->minKey
        || observation.known->maxKey != observation.grown->maxKey;
}

// One block's counts: in shared memory if the bins fit (a block counts about count / kMaxBlocks
// values, which fits 32 bits), else directly in the result.
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

__global__ void startObservation(DeviceObservation observation)
{
    *observation.seen = MinMaxKeys {0xffffffffu, 0u, 0ull};
}

// Computes extremes, and counts over the previously known range.
template<bool kShared>
__global__ void scanAndCount(const float* data, std::int64_t count, DeviceObservation observation)
{
    BlockCounts<kShared> block(observation.bins, observation.counts);
    const HistogramEdges edges = edgesOf(*observation.known);
    MinMax mine;
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        include(mine, data[i]);
        block.add(histogramBin(data[i], edges, observation.bins));
    }
    block.flush();
    publish(mine, observation.seen);
}

// Computes the extended range; clears the counts if it differs from the old one. One block.
__global__ void growRange(DeviceObservation observation)
{
    if (threadIdx.x == 0) {
        const MinMaxKeys known = *observation.known, seen = *observation.seen;
        observation.grown->minKey = seen.minKey < known.minKey ? seen.minKey : known.minKey;
        observation.grown->maxKey = seen.maxKey > known.maxKey ? seen.maxKey : known.maxKey;
        observation.grown->nonFinite = seen.nonFinite + known.nonFinite;
    }
    __syncthreads();
    if (hasGrown(observation))
        for (std::int32_t bin = threadIdx.x; bin < observation.bins; bin += blockDim.x)
            observation.counts[bin] = 0;
}

template<bool kShared>
__global__ void countIfGrown(const float* data, std::int64_t count, DeviceObservation observation)
{
    if (hasGrown(observation))
        countAll<kShared>(data, count, edgesOf(*observation.grown), observation.bins,
                          observation.counts);
}

template<bool kShared>
void launchObservation(const float* data, std::int64_t count, DeviceObservation observation,
                       std::size_t bytes, cudaStream_t stream)
{
    const int blocks = blockCount(count);
    startObservation<<<1, 1, 0, stream>>>(observation);
    scanAndCount<kShared><<<blocks, kBlockSize, bytes, stream>>>(data, count, observation);
    growRange<<<1, kBlockSize, 0, stream>>>(observation);
    countIfGrown<kShared><<<blocks, kBlockSize, bytes, stream>>>(data, count, observation);
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

void observeCuda(const float* data, std::int64_t count, DeviceObservation observation,
                 Stream stream)
{
    const std::size_t bytes = tableBytes(observation.bins);
    if (bytes <= kSharedBytes)
        launchObservation<true>(data, count, observation, bytes, asStream(stream));
    else
        launchObservation<false>(data, count, observation, 0, asStream(stream));
}

} // namespace qs::kernels

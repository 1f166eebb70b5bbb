// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/launch.cuh"
#include "engine/kernels/min_max.h"

namespace qs::kernels {

namespace {

__global__ void setKeys(MinMaxKeys* keys, std::int64_t count, MinMaxKeys value)
{
    const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count)
        keys[i] = value;
}

__global__ void growKeys(MinMaxKeys known, const MinMaxKeys* keys, MinMaxKeys* out)
{
    out->minKey = keys->minKey < known.minKey ? keys->minKey : known.minKey;
    out->maxKey = keys->maxKey > known.maxKey ? keys->maxKey : known.maxKey;
    out->nonFinite = keys->nonFinite + known.nonFinite;
}

// Joins the block's findings and adds them to `out`. Minimum, maximum and integer sums come out the
// same in any order.
__device__ void publish(const MinMax& mine, MinMaxKeys* out)
{
    __shared__ MinMaxKeys joined;
    if (threadIdx.x == 0)
        joined = MinMaxKeys {0xffffffffu, 0u, 0ull};
    __syncthreads();
    atomicMin(&joined.minKey, orderedKey(mine.min));
    atomicMax(&joined.maxKey, orderedKey(mine.max));
    if (mine.nonFinite > 0)
        atomicAdd(&joined.nonFinite, static_cast<unsigned long long>(mine.nonFinite));
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(&out->minKey, joined.minKey);
        atomicMax(&out->maxKey, joined.maxKey);
        if (joined.nonFinite > 0)
            atomicAdd(&out->nonFinite, joined.nonFinite);
    }
}

__global__ void scanAll(const float* data, std::int64_t count, MinMaxKeys* keys)
{
    const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
    MinMax mine;
    for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride)
        include(mine, data[i]);
    publish(mine, keys);
}

// One block per channel.
__global__ void scanChannel(const float* data, ChannelShape shape, MinMaxKeys* keys)
{
    const std::int64_t channel = blockIdx.x;
    const std::int64_t perChannel = shape.outer * shape.inner;
    MinMax mine;
    for (std::int64_t i = threadIdx.x; i < perChannel; i += blockDim.x) {
        const std::int64_t row = i / shape.inner;
        const std::int64_t column = i % shape.inner;
        include(mine, data[(row * shape.channels + channel) * shape.inner + column]);
    }
    publish(mine, keys + channel);
}

MinMaxKeys keysOf(const MinMax& range)
{
    return {orderedKey(range.min), orderedKey(range.max),
            static_cast<unsigned long long>(range.nonFinite)};
}

} // namespace

void minMaxCuda(const float* data, std::int64_t count, MinMax start, MinMaxKeys* keys,
                Stream stream)
{
    setKeys<<<1, 1, 0, asStream(stream)>>>(keys, 1, keysOf(start));
    if (count > 0)
        scanAll<<<blockCount(count), kBlockSize, 0, asStream(stream)>>>(data, count, keys);
}

void minMaxGrowCuda(MinMax known, const MinMaxKeys* keys, MinMaxKeys* out, Stream stream)
{
    growKeys<<<1, 1, 0, asStream(stream)>>>(keysOf(known), keys, out);
}

void minMaxChannelsCuda(const float* data, ChannelShape shape, MinMaxKeys* keys, Stream stream)
{
    if (shape.channels <= 0)
        return;
    const auto blocks = unsigned((shape.channels + kBlockSize - 1) / kBlockSize);
    setKeys<<<blocks, kBlockSize, 0, asStream(stream)>>>(keys, shape.channels, keysOf(MinMax {}));
    scanChannel<<<unsigned(shape.channels), kBlockSize, 0, asStream(stream)>>>(data, shape, keys);
}

} // namespace qs::kernels

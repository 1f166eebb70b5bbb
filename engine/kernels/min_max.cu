// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/launch.cuh"
#include "engine/kernels/min_max.cuh"

namespace qs::kernels {

namespace {

__global__ void setKeys(MinMaxKeys* keys, std::int64_t count, MinMaxKeys value)
{
    const std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count)
        keys[i] = value;
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

void minMaxChannelsCuda(const float* data, ChannelShape shape, MinMaxKeys* keys, Stream stream)
{
    if (shape.channels <= 0)
        return;
    const auto blocks = unsigned((shape.channels + kBlockSize - 1) / kBlockSize);
    setKeys<<<blocks, kBlockSize, 0, asStream(stream)>>>(keys, shape.channels, keysOf(MinMax {}));
    scanChannel<<<unsigned(shape.channels), kBlockSize, 0, asStream(stream)>>>(data, shape, keys);
}

} // namespace qs::kernels

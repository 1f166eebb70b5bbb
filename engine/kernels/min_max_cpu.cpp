// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/min_max.h"
#include "engine/kernels/parallel.h"

#include <vector>

namespace qs::kernels {

namespace {

constexpr int kLanes = 64; // independent accumulators: several vectors on every target
constexpr std::int64_t kBlock = std::int64_t(kLanes) << 20; // per-lane counts fit 32 bits

// State of all lanes, as separate arrays so that loops over lanes vectorize.
struct Lanes
{
    float min[kLanes];
    float max[kLanes];
    std::int32_t bad[kLanes];
};

QS_VECTOR_CLONES void scanBlock(const float* data, std::int64_t steps, Lanes& lanes)
{
    Lanes acc = lanes;
    for (std::int64_t step = 0; step < steps; ++step) {
        const float* x = data + step * kLanes;
        for (int i = 0; i < kLanes; ++i) {
            const bool finite = (x[i] - x[i]) == 0.0f;
            const float low = finite ? x[i] : acc.min[i];
            const float high = finite ? x[i] : acc.max[i];
            acc.min[i] = low < acc.min[i] ? low : acc.min[i];
            acc.max[i] = high > acc.max[i] ? high : acc.max[i];
            acc.bad[i] += finite ? 0 : 1;
        }
    }
    lanes = acc;
}

MinMax scan(const float* data, std::int64_t count)
{
    MinMax out;
    std::int64_t done = 0;
    while (count - done >= kLanes) {
        const std::int64_t steps = std::min(count - done, kBlock) / kLanes;
        Lanes lanes;
        for (int i = 0; i < kLanes; ++i) {
            lanes.min[i] = std::numeric_limits<float>::infinity();
            lanes.max[i] = -std::numeric_limits<float>::infinity();
            lanes.bad[i] = 0;
        }
        scanBlock(data + done, steps, lanes);
        for (int i = 0; i < kLanes; ++i)
            merge(out, MinMax {lanes.min[i], lanes.max[i], lanes.bad[i]});
        done += steps * kLanes;
    }
    for (; done < count; ++done)
        include(out, data[done]);
    return out;
}

} // namespace

MinMax minMaxCpu(const float* data, std::int64_t count, int threads)
{
    const int parts = partCount(count, threads);
    std::vector<MinMax> found(std::size_t(parts), MinMax {});
    forEachPart(count, parts, [&](int part, std::int64_t begin, std::int64_t end) {
        found[std::size_t(part)] = scan(data + begin, end - begin);
    });
    MinMax out;
    for (const auto& one : found)
        merge(out, one);
    return out;
}

void minMaxChannelsCpu(const float* data, ChannelShape shape, MinMax* out, int threads)
{
    const std::int64_t total = shape.outer * shape.channels * shape.inner;
    const int parts = int(std::min<std::int64_t>(partCount(total, threads),
                                                 std::max<std::int64_t>(1, shape.channels)));
    forEachPart(shape.channels, parts, [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t channel = begin; channel < end; ++channel)
            out[channel] = MinMax {};
        for (std::int64_t o = 0; o < shape.outer; ++o)
            for (std::int64_t channel = begin; channel < end; ++channel) {
                const float* row = data + (o * shape.channels + channel) * shape.inner;
                if (shape.inner == 1)
                    include(out[channel], *row);
                else
                    merge(out[channel], scan(row, shape.inner));
            }
    });
}

} // namespace qs::kernels

// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/error_stats.h"
#include "engine/kernels/parallel.h"

namespace qs::kernels {

namespace {

constexpr int kLanes = 16;

struct Lanes
{
    double signal2[kLanes] = {};
    double other2[kLanes] = {};
    double dot[kLanes] = {};
    double noise2[kLanes] = {};
    double maxAbs[kLanes] = {};
};

QS_VECTOR_CLONES void scanBlock(const float* signal, const float* other, std::int64_t steps,
                                Lanes& lanes)
{
    Lanes acc = lanes;
    for (std::int64_t step = 0; step < steps; ++step) {
        const float* a = signal + step * kLanes;
        const float* b = other + step * kLanes;
        for (int i = 0; i < kLanes; ++i) {
            const double s = a[i];
            const double o = b[i];
            const double noise = o - s;
            const double size = noise < 0 ? -noise : noise;
            acc.signal2[i] += s * s;
            acc.other2[i] += o * o;
            acc.dot[i] += s * o;
            acc.noise2[i] += noise * noise;
            acc.maxAbs[i] = size > acc.maxAbs[i] ? size : acc.maxAbs[i];
        }
    }
    lanes = acc;
}

ErrorSums scan(const float* signal, const float* other, std::int64_t count)
{
    Lanes lanes;
    const std::int64_t steps = count / kLanes;
    scanBlock(signal, other, steps, lanes);
    ErrorSums out;
    for (int i = 0; i < kLanes; ++i)
        merge(out,
              ErrorSums {lanes.signal2[i], lanes.other2[i], lanes.dot[i], lanes.noise2[i],
                         lanes.maxAbs[i], steps});
    for (std::int64_t i = steps * kLanes; i < count; ++i)
        include(out, signal[i], other[i]);
    return out;
}

} // namespace

ErrorSums errorSumsCpu(const float* signal, const float* other, std::int64_t count, int threads)
{
    const int parts = partCount(count, threads);
    std::vector<ErrorSums> found(std::size_t(parts), ErrorSums {});
    forEachPart(count, parts, [&](int part, std::int64_t begin, std::int64_t end) {
        found[std::size_t(part)] = scan(signal + begin, other + begin, end - begin);
    });
    ErrorSums out;
    for (const auto& one : found)
        merge(out, one);
    return out;
}

} // namespace qs::kernels

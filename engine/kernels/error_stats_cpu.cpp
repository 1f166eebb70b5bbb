// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/error_stats.h"
#include "engine/kernels/parallel.h"

#include <vector>

namespace qs::kernels {

namespace {

constexpr int kLanes = 16;

struct Lanes
{
    double signal2[kLanes] = {};
    double other2[kLanes] = {};
    double dot[kLanes] = {};
    double noise2[kLanes] = {};
    float maxAbs[kLanes] = {};
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
            const float apart = b[i] - a[i];
            const float size = apart < 0 ? -apart : apart;
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
                         double(lanes.maxAbs[i]), steps});
    for (std::int64_t i = steps * kLanes; i < count; ++i)
        include(out, signal[i], other[i]);
    return out;
}

constexpr int kTermLanes = 16;

// One term's accumulators. What is added is y + noise, so its square and its product with y follow
// from the sums of y^2, y * noise and noise^2.
struct TermLanes
{
    double cross[kTermLanes] = {}; ///< y * noise
    double noise2[kTermLanes] = {};
    float maxAbs[kTermLanes] = {};
};

struct AllTermLanes
{
    double signal2[kTermLanes] = {};
    TermLanes isolated, inherited, bornHere, cumulative;
};

inline void add(TermLanes& lanes, int i, double signal, float made, float wanted)
{
    const double noise = double(made) - double(wanted);
    const float apart = made - wanted;
    const float size = apart < 0 ? -apart : apart;
    lanes.cross[i] += signal * noise;
    lanes.noise2[i] += noise * noise;
    lanes.maxAbs[i] = size > lanes.maxAbs[i] ? size : lanes.maxAbs[i];
}

inline void addValue(AllTermLanes& acc, int i, const LayerValues& v, std::int64_t at)
{
    const float y = v.signal[at];
    const double signal = y;
    acc.signal2[i] += signal * signal;
    add(acc.isolated, i, signal, v.quantizedOnFloat[at], y);
    add(acc.inherited, i, signal, v.onConverted[at], y);
    add(acc.bornHere, i, signal, v.converted[at], v.onConverted[at]);
    add(acc.cumulative, i, signal, v.converted[at], y);
}

QS_VECTOR_CLONES void scanTerms(const LayerValues& v, std::int64_t begin, std::int64_t steps,
                                AllTermLanes& lanes)
{
    AllTermLanes acc = lanes;
    for (std::int64_t step = 0; step < steps; ++step)
        for (int i = 0; i < kTermLanes; ++i)
            addValue(acc, i, v, begin + step * kTermLanes + i);
    lanes = acc;
}

ErrorSums termSums(const double* signal2, const TermLanes& lanes, std::int64_t count)
{
    ErrorSums sums;
    for (int i = 0; i < kTermLanes; ++i) {
        const double dot = signal2[i] + lanes.cross[i];
        merge(sums,
              {signal2[i], dot + lanes.cross[i] + lanes.noise2[i], dot, lanes.noise2[i],
               lanes.maxAbs[i], 0});
    }
    sums.count = count;
    return sums;
}

void mergeTerms(ErrorTerms& into, const ErrorTerms& other)
{
    merge(into.isolated, other.isolated);
    merge(into.inherited, other.inherited);
    merge(into.bornHere, other.bornHere);
    merge(into.cumulative, other.cumulative);
}

ErrorTerms termsOf(const LayerValues& v, std::int64_t begin, std::int64_t end)
{
    AllTermLanes lanes;
    const std::int64_t steps = (end - begin) / kTermLanes;
    scanTerms(v, begin, steps, lanes);
    for (std::int64_t at = begin + steps * kTermLanes; at < end; ++at)
        addValue(lanes, 0, v, at);
    const std::int64_t count = end - begin;
    return {termSums(lanes.signal2, lanes.isolated, count),
            termSums(lanes.signal2, lanes.inherited, count),
            termSums(lanes.signal2, lanes.bornHere, count),
            termSums(lanes.signal2, lanes.cumulative, count)};
}

} // namespace

ErrorTerms errorTermsCpu(const LayerValues& values, std::int64_t count, int threads)
{
    const int parts = partCount(count, threads);
    std::vector<ErrorTerms> found(std::size_t(parts), ErrorTerms {});
    forEachPart(count, parts, [&](int part, std::int64_t begin, std::int64_t end) {
        found[std::size_t(part)] = termsOf(values, begin, end);
    });
    ErrorTerms out;
    for (const auto& one : found)
        mergeTerms(out, one);
    return out;
}

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

// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/error_stats.h"
#include "engine/kernels/parallel.h"

#include <algorithm>
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

// One term's accumulators. The other value is y + noise, so its square and its product with y
// follow from the sums of y^2, y * noise and noise^2.
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

inline void addSignal(double* signal2, int i, float y)
{
    signal2[i] += double(y) * double(y);
}

inline void addValue(AllTermLanes& acc, int i, const LayerValues& v, std::int64_t at)
{
    const float y = v.signal[at];
    const double signal = y;
    addSignal(acc.signal2, i, y);
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

QS_VECTOR_CLONES void scanCumulative(const float* signal, const float* converted,
                                     std::int64_t steps, double* signal2, TermLanes& lanes)
{
    TermLanes acc = lanes;
    double squares[kTermLanes] = {};
    for (std::int64_t step = 0; step < steps; ++step)
        for (int i = 0; i < kTermLanes; ++i) {
            const std::int64_t at = step * kTermLanes + i;
            addSignal(squares, i, signal[at]);
            add(acc, i, signal[at], converted[at], signal[at]);
        }
    lanes = acc;
    std::copy(squares, squares + kTermLanes, signal2);
}

ErrorSums cumulativeOf(const float* signal, const float* converted, std::int64_t count)
{
    TermLanes lanes;
    double signal2[kTermLanes] = {};
    const std::int64_t steps = count / kTermLanes;
    scanCumulative(signal, converted, steps, signal2, lanes);
    for (std::int64_t at = steps * kTermLanes; at < count; ++at) {
        addSignal(signal2, 0, signal[at]);
        add(lanes, 0, signal[at], converted[at], signal[at]);
    }
    return termSums(signal2, lanes, count);
}

/// Returns the sum of `of(begin, end)` over all parts of the elements, in the order of the parts.
template<class Sums, class Of>
Sums sumOfParts(std::int64_t count, int threads, const Of& of)
{
    const int parts = partCount(count, threads);
    std::vector<Sums> found(std::size_t(parts), Sums {});
    forEachPart(count, parts, [&](int part, std::int64_t begin, std::int64_t end) {
        found[std::size_t(part)] = of(begin, end);
    });
    Sums out;
    for (const Sums& one : found)
        merge(out, one);
    return out;
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
    return sumOfParts<ErrorTerms>(count, threads, [&](std::int64_t begin, std::int64_t end) {
        return termsOf(values, begin, end);
    });
}

ErrorSums cumulativeErrorCpu(const float* signal, const float* converted, std::int64_t count,
                             int threads)
{
    return sumOfParts<ErrorSums>(count, threads, [&](std::int64_t begin, std::int64_t end) {
        return cumulativeOf(signal + begin, converted + begin, end - begin);
    });
}

ErrorSums errorSumsCpu(const float* signal, const float* other, std::int64_t count, int threads)
{
    return sumOfParts<ErrorSums>(count, threads, [&](std::int64_t begin, std::int64_t end) {
        return scan(signal + begin, other + begin, end - begin);
    });
}

} // namespace qs::kernels

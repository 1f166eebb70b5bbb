// SPDX-License-Identifier: Apache-2.0
// C++17: included by .cu files.
#pragma once

#include "engine/kernels/host_device.h"
#include "engine/kernels/min_max.h"
#include "engine/kernels/stream.h"

#include <cstdint>

namespace qs::kernels {

/// Outer edges of a histogram.
struct HistogramEdges
{
    float low = 0;
    float high = 0;
};

/// Returns the edges used by `aten::histc` for a range: a single point is widened by one on both
/// sides.
QS_HD inline HistogramEdges histogramEdges(float min, float max)
{
    if (min == max)
        return {float(double(min) - 1.0), float(double(max) + 1.0)};
    return {min, max};
}

/// Returns the bin of a value, by the arithmetic of `aten::histc` for float32 on the CPU: int((x -
/// low) * bins / (high - low)), the last bin closed on both sides. Returns `bins` for NaN and
/// values outside.
QS_HD inline std::int32_t histogramBin(float x, HistogramEdges edges, std::int32_t bins)
{
    const bool inside = x >= edges.low && x <= edges.high;
    const float position = (x - edges.low) * float(bins) / (edges.high - edges.low);
    const float last = float(bins - 1);
    const float kept = position < last ? position : last;
    return inside ? std::int32_t(inside ? kept : 0.0f) : bins;
}

/// Adds the values' counts to `counts` (`bins` entries), with at most `threads` threads.
void histogramCpu(const float* data, std::int64_t count, HistogramEdges edges, std::int32_t bins,
                  std::uint64_t* counts, int threads);

/// The destination of counts.
struct HistogramTarget
{
    HistogramEdges edges;
    std::int32_t bins = 2048;
    std::uint64_t* counts = nullptr; ///< `bins` entries, added to
};

/// Returns extremes and counts in one pass over the data. Sets `*counted` to true if every value is
/// finite and inside the edges; else the counts are incomplete.
MinMax observeCpu(const float* data, std::int64_t count, HistogramTarget target, int threads,
                  bool* counted);

/// Device version: adds to `counts` (`bins` entries of device memory), queued on `stream`.
void histogramCuda(const float* data, std::int64_t count, HistogramEdges edges, std::int32_t bins,
                   unsigned long long* counts, Stream stream);

/// An observation whose range is also on the device, so that the host need not wait before the
/// next.
struct DeviceObservation
{
    const MinMaxKeys* known = nullptr; ///< the previous range; minKey > maxKey: empty
    MinMaxKeys* seen = nullptr; ///< set to the extremes of the data
    MinMaxKeys* grown = nullptr; ///< set to `known` extended by `seen`
    unsigned long long* counts = nullptr; ///< `bins` zeros; counted over `grown`
    std::int32_t bins = 2048;
};
/// Device version of `observeCpu`, queued on `stream`. One pass over the data if `known` contains
/// all of it; else the device makes a second pass itself.
void observeCuda(const float* data, std::int64_t count, DeviceObservation observation,
                 Stream stream);

} // namespace qs::kernels

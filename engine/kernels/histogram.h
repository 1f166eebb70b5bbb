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

/// The edges `aten::histc` takes for a range: a range of one point is widened by one to both sides.
QS_HD inline HistogramEdges histogramEdges(float min, float max)
{
    if (min == max)
        return {float(double(min) - 1.0), float(double(max) + 1.0)};
    return {min, max};
}

/// The bin of one value by `aten::histc`'s arithmetic for float32 on the CPU:
/// int((x - low) * bins / (high - low)), the last bin closed on both sides. Returns `bins` for NaN
/// and values outside.
QS_HD inline std::int32_t histogramBin(float x, HistogramEdges edges, std::int32_t bins)
{
    const bool inside = x >= edges.low && x <= edges.high;
    const float position = (x - edges.low) * float(bins) / (edges.high - edges.low);
    const float last = float(bins - 1);
    const float kept = position < last ? position : last;
    return inside ? std::int32_t(inside ? kept : 0.0f) : bins;
}

/// Adds the values' counts to `counts` (`bins` entries), on at most `threads` threads.
void histogramCpu(const float* data, std::int64_t count, HistogramEdges edges, std::int32_t bins,
                  std::uint64_t* counts, int threads);

/// The destination of counts.
struct HistogramTarget
{
    HistogramEdges edges;
    std::int32_t bins = 2048;
    std::uint64_t* counts = nullptr; ///< `bins` entries, added to
};

/// Extremes and counts in one reading of the data. Sets `*counted` to whether every value is finite
/// and inside the edges; if not, the counts are incomplete.
MinMax observeCpu(const float* data, std::int64_t count, HistogramTarget target, int threads,
                  bool* counted);

/// Device version: adds to `counts` (`bins` entries of device memory), queued on `stream`.
void histogramCuda(const float* data, std::int64_t count, HistogramEdges edges, std::int32_t bins,
                   unsigned long long* counts, Stream stream);

/// An observation whose range is on the device too, so that the host need not wait before the next.
struct DeviceObservation
{
    const MinMaxKeys* known = nullptr; ///< the range before; minKey > maxKey: nothing yet
    MinMaxKeys* seen = nullptr; ///< set to the extremes of the data alone
    MinMaxKeys* grown = nullptr; ///< set to `known` grown by `seen`
    unsigned long long* counts = nullptr; ///< `bins` zeros; counted over `grown`
    std::int32_t bins = 2048;
};
/// Device version of `observeCpu`, queued on `stream`: one reading of the data while `known` holds
/// all of it; where the range grows the device itself decides on a second.
void observeCuda(const float* data, std::int64_t count, DeviceObservation observation,
                 Stream stream);

} // namespace qs::kernels

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace qs {

/// Where a value's quantization noise comes from, as energy per value.
struct NoiseShare
{
    double clipping = 0; ///< of values outside the range
    double rounding = 0; ///< of values inside: step squared over twelve
    double beyond = 0; ///< fraction of the values outside the range
    double total() const { return clipping + rounding; }
};

/// The range that a per-tensor quantization keeps: [(qmin - z)·s, (qmax - z)·s].
inline std::pair<double, double> keptRange(const QParams& params)
{
    const double scale = double(params.scale.front());
    const double zero = double(params.zeroPoint.front());
    return {(double(params.quantMin) - zero) * scale, (double(params.quantMax) - zero) * scale};
}

/// Estimated from a histogram, each value taken at its bin's centre. Nothing for per-channel
/// parameters or an empty histogram.
inline std::optional<NoiseShare> estimateNoise(const Histogram& histogram, const QParams& params)
{
    if (histogram.empty() || params.scale.size() != 1 || params.zeroPoint.size() != 1)
        return {};
    const auto [low, high] = keptRange(params);
    const double width
        = (double(histogram.max) - double(histogram.min)) / double(histogram.counts.size());
    const double step = double(params.scale.front());
    NoiseShare out;
    double total = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        const double count = double(histogram.counts[i]);
        const double at = double(histogram.min) + (double(i) + 0.5) * width;
        // Half a step beyond the ends still rounds to the ends.
        const double outside = std::max({0.0, low - step / 2 - at, at - high - step / 2});
        total += count;
        if (outside > 0) {
            out.beyond += count;
            out.clipping += count * outside * outside;
        } else {
            out.rounding += count * step * step / 12;
        }
    }
    if (total <= 0)
        return {};
    out.beyond /= total;
    out.clipping /= total;
    out.rounding /= total;
    return out;
}

} // namespace qs

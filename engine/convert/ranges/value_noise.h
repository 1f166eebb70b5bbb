// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"

#include <optional>

namespace qs {

/// The loss of quantizing a value, as energy per element: the error's mean square and its
/// parts.
struct ValueNoise
{
    double signal = 0; ///< mean square of the value itself
    double clipping = 0; ///< error of elements outside the range of the integers
    double rounding = 0; ///< error of all other elements
    double beyond = 0; ///< share of the clipped elements: `shareOutside` of `heldEnds`
    double total() const { return clipping + rounding; }
    /// 10 log10(signal / total) in dB, clamped to +-200; empty without a signal.
    std::optional<double> sqnrDb() const;
};

/// Noise of a histogram's values, quantized with one scale and saturated at `stored`
/// (`storageRange`). Values of a bin count as evenly spread over it. The excess of the bin at zero
/// over its neighbour counts as exact zeros. Empty for per-channel parameters or an empty
/// histogram.
std::optional<ValueNoise> valueNoise(const Histogram& histogram, const QParams& qparams,
                                     const QuantRange& stored);

/// Share of a histogram's values below `low` or above `high`, spread as for `valueNoise`. 0 without
/// values.
double shareOutside(const Histogram& histogram, double low, double high);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"

#include <optional>

namespace qs {

/// The error of quantizing a value: mean square per element, by parts.
struct ValueNoise
{
    double signal = 0; ///< mean square of the value
    double clipping = 0; ///< error of elements outside the range of the integers
    double rounding = 0; ///< error of all other elements
    double beyond = 0; ///< fraction of clipped elements: `shareOutside` of `heldEnds`
    double total() const { return clipping + rounding; }
    /// 10 log10(signal / total) in dB, clamped to +-200; empty without a signal.
    std::optional<double> sqnrDb() const;
};

/// Returns the noise of a histogram's values, quantized with one scale and saturated at `stored`
/// (`storageRange`). Values are assumed to be uniformly distributed within a bin. The excess of the
/// bin at zero over its neighbour counts as exact zeros. Empty for per-channel parameters or an
/// empty histogram.
std::optional<ValueNoise> valueNoise(const Histogram& histogram, const QParams& qparams,
                                     const QuantRange& stored);

/// Returns the fraction of a histogram's values below `low` or above `high`, with the distribution
/// of `valueNoise`. 0 without values.
double shareOutside(const Histogram& histogram, double low, double high);

} // namespace qs

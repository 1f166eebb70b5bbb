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
    double clipping = 0; ///< of elements beyond what the integers hold
    double rounding = 0; ///< of all others
    double beyond = 0; ///< share of the elements that are cut off: `shareOutside` of `heldEnds`
    double total() const { return clipping + rounding; }
    /// 10 log10(signal / total), capped at +-200; nothing without a signal.
    std::optional<double> sqnrDb() const;
};

/// Of a histogram's values, those of a bin spread evenly over it, quantized with one scale and
/// saturated at `stored` (`storageRange`). What the bin at zero has more than its neighbour is
/// zeros, which every grid holds. Nothing for parameters per channel or an empty histogram.
std::optional<ValueNoise> valueNoise(const Histogram& histogram, const QParams& qparams,
                                     const QuantRange& stored);

/// Share of a histogram's values below `low` or above `high`, spread as above. 0 without values.
double shareOutside(const Histogram& histogram, double low, double high);

} // namespace qs

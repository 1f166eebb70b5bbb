// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/ranges/choose_qparams.h"

namespace qs {

// Ranges chosen from a finished histogram, for methods without an observer in torch.ao. Values are
// assumed to be uniformly distributed within a bin. Among equally good ranges, the widest is
// chosen. The range of an empty or single-point histogram is kept. The excess of the bin at zero
// over its neighbour counts as exact zeros (from relu), which every range represents exactly.

/// Returns the range of the central `percent` of the values, with equal shares clipped below and
/// above (NumPy's `percentile` of a histogram). Interpolates linearly between bin edges.
ValueRange percentileRange(const Histogram& histogram, double percent);

/// Returns the same counts in at most `most` bins; merges adjacent bins.
Histogram coarser(const Histogram& histogram, std::size_t most);

/// Returns the range whose quantized distribution has the least Kullback-Leibler divergence from
/// the clipped one (S. Migacz, "8-bit inference with TensorRT", 2017). Clipped values count at the
/// ends. Symmetric schemes are searched over |x|.
ValueRange entropyRange(const Histogram& histogram, const ObserverSpec& spec);

/// Returns the range with the least expected squared error (rounding and clipping) with the
/// parameters from `qparamsFromRange`.
ValueRange mseRange(const Histogram& histogram, const ObserverSpec& spec);

/// Returns the expected squared error of one value of `histogram` quantized with `qparams` (one
/// scale).
double expectedSquaredError(const Histogram& histogram, const QParams& qparams);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/ranges/choose_qparams.h"

namespace qs {

// Ranges chosen from a finished histogram, for methods without an observer in torch.ao. The values
// of a bin count as evenly spread over it. Among equally good ranges, the widest is chosen. An
// empty histogram, or one of a single point, keeps its range. The excess of the bin at zero over
// its neighbour counts as exact zeros (from relu), which every range represents exactly.

/// The range of the central `percent` of the values, with equal shares cut off below and above
/// (NumPy's `percentile` of a histogram). Interpolates linearly between bin edges.
ValueRange percentileRange(const Histogram& histogram, double percent);

/// The same counts in at most `most` bins: adjacent bins are joined.
Histogram coarser(const Histogram& histogram, std::size_t most);

/// The range whose quantized distribution differs least from the clipped one, by the
/// Kullback-Leibler divergence (S. Migacz, "8-bit inference with TensorRT", 2017). Clipped values
/// count at the ends. Symmetric schemes are searched over |x|.
ValueRange entropyRange(const Histogram& histogram, const ObserverSpec& spec);

/// The range with the least expected squared error (rounding and clipping) of the grid that
/// `qparamsFromRange` gives for it.
ValueRange mseRange(const Histogram& histogram, const ObserverSpec& spec);

/// The expected squared error of one value of `histogram` quantized with `qparams` (one scale).
double expectedSquaredError(const Histogram& histogram, const QParams& qparams);

} // namespace qs

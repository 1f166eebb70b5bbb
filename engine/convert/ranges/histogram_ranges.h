// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/ranges/choose_qparams.h"

namespace qs {

// Ranges chosen from a finished histogram, for the methods that torch.ao has no observer for. A
// bin's values count as spread evenly over it. Of equally good ranges the widest is taken. An empty
// histogram, or one of a single point, keeps its range. What the bin at zero has more than its
// neighbour (what relu cut off) is zeros, which every range holds exactly.

/// The central `percent` of the values: as many are cut off below as above (NumPy's `percentile`
/// of a histogram). Between bin edges by linear interpolation.
ValueRange percentileRange(const Histogram& histogram, double percent);

/// The same counts in no more than `most` bins: neighbours together.
Histogram coarser(const Histogram& histogram, std::size_t most);

/// The range whose quantized distribution differs least from the clipped one, by the
/// Kullback-Leibler divergence (S. Migacz, "8-bit inference with TensorRT", 2017). Clipped values
/// count at the ends. Symmetric schemes are searched over |x|.
ValueRange entropyRange(const Histogram& histogram, const ObserverSpec& spec);

/// The range with the least expected squared error, rounding and clipping, of the very grid that
/// `qparamsFromRange` makes of it.
ValueRange mseRange(const Histogram& histogram, const ObserverSpec& spec);

/// The expected squared error of one value of `histogram` quantized with `qparams` (one scale).
double expectedSquaredError(const Histogram& histogram, const QParams& qparams);

} // namespace qs

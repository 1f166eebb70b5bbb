// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"

namespace qs {

/// Returns the range that an observer quantizes: for a histogram by the spec's method, else its
/// minimum and maximum. Reads only stored statistics, so that changing the method needs no new
/// calibration.
struct ValueRange
{
    float min = 0;
    float max = 0;
};
ValueRange chooseRange(const ObserverStats& stats);
/// The same; of a per-channel observer, the range over all channels.
ValueRange wholeRange(const ObserverStats& stats);

/// Bitwise equal to torch.ao's `_calculate_qparams`. `min`, `max`: one entry per tensor, or one per
/// channel.
QParams qparamsFromRange(const ObserverSpec& spec, const std::vector<float>& min,
                         const std::vector<float>& max);

/// The result of the observer's `calculate_qparams`. For an observer that never ran: scale 1, zero
/// point 0, `calibrated` false.
QParams chooseQParams(const ObserverStats& stats);
/// True if parameters are chosen from observed values: false for placeholders, dynamic observers
/// and non-integer types.
bool choosesQParams(const ObserverSpec& spec);
/// Returns the spec with these fixed per-tensor parameters instead of an observed range.
ObserverSpec fixedBy(ObserverSpec spec, const QParams& qparams);
/// Those of all observers. Uses the recorded range of the last batch (`ObserverStats::ranges`) if
/// there is one, as a search in the histogram takes time.
QParamsTable chooseAllQParams(const Observations& observations);

} // namespace qs

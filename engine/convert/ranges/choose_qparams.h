// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"

namespace qs {

/// The range an observer would quantize: a histogram's by the spec's method, else its minimum and
/// maximum. Reads only kept statistics, so that another method needs no new calibration.
struct ValueRange
{
    float min = 0;
    float max = 0;
};
ValueRange chooseRange(const ObserverStats& stats);

/// Bitwise equal to torch.ao's `_calculate_qparams`. `min`, `max`: one entry per tensor, or one per
/// channel.
QParams qparamsFromRange(const ObserverSpec& spec, const std::vector<float>& min,
                         const std::vector<float>& max);

/// The result of the observer's `calculate_qparams`. An observer that never ran gives scale 1, zero
/// point 0 and `calibrated` false.
QParams chooseQParams(const ObserverStats& stats);
/// True if parameters are chosen from the observed values: not for placeholders, dynamic observers
/// and types without integers.
bool choosesQParams(const ObserverSpec& spec);
/// The observer spec with these fixed per-tensor parameters instead of a range that it chooses.
ObserverSpec fixedBy(ObserverSpec spec, const QParams& qparams);
QParamsTable chooseAllQParams(const Observations& observations);

} // namespace qs

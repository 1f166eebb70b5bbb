// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"
#include "engine/prepare/prepared_model.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Another way to quantize a value, and its loss, computed without running the model. A
/// value.
struct Alternative
{
    std::string name; ///< "histogram, mse", "7 bits", "per tensor", "float"
    ObserverSpec spec; ///< a float32 placeholder for "float"
    QParams qparams; ///< that would be chosen; without scales for "float"
    /// The value's own SQNR, quantized so; empty for "float" and without a signal.
    std::optional<double> sqnrDb;
    bool current = false; ///< as it is quantized now
    bool byRule = false; ///< as it would be quantized without the edge or node rule that decides it
    /// The parameters are those that a calibration on the same data would choose.
    bool exactParameters = false;
    bool exactError = false; ///< from the values themselves (weights); else from a histogram
};

/// Of an activation that an observer per tensor saw: its observer and range method, the width, the
/// scheme. Empty where nothing was counted.
std::vector<Alternative> valueAlternatives(const ObserverStats& stats);

/// The same for any observer of the plan: a weight's come from the weight itself, batch norms
/// folded. Where an edge or node rule decides, the result of the other rules is among them
/// (`byRule`). Empty without statistics.
Result<std::vector<Alternative>> alternativesOf(const PreparedModel& prepared,
                                                const Observations& observations, ObserverId id,
                                                const JobContext& job);

using AlternativesTable = std::map<ObserverId, std::vector<Alternative>>;
Result<AlternativesTable> allAlternatives(const PreparedModel& prepared,
                                          const Observations& observations, const JobContext& job);

} // namespace qs

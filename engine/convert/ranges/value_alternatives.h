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
    QParams qparams; ///< parameters that would be chosen; without scales for "float"
    /// SQNR in dB of the value itself when quantized this way; empty for "float" or without a
    /// signal.
    std::optional<double> sqnrDb;
    bool current = false; ///< the current way
    bool byRule = false; ///< the way without the edge or node rule that currently decides
    /// The parameters are those that a calibration on the same data would choose.
    bool exactParameters = false;
    bool exactError = false; ///< computed from the values (weights), not from a histogram
};

/// Alternatives for an activation with a per-tensor observer: other observers and range methods,
/// widths and schemes. Empty if nothing was counted.
std::vector<Alternative> valueAlternatives(const ObserverStats& stats);

/// Alternatives for any observer of the plan; those of a weight are computed from the weight
/// itself, with folded batch norms. If an edge or node rule decides, includes the result of the
/// other rules
/// (`byRule`). Empty without statistics.
Result<std::vector<Alternative>> alternativesOf(const PreparedModel& prepared,
                                                const Observations& observations, ObserverId id,
                                                const JobContext& job);

using AlternativesTable = std::map<ObserverId, std::vector<Alternative>>;
Result<AlternativesTable> allAlternatives(const PreparedModel& prepared,
                                          const Observations& observations, const JobContext& job);

} // namespace qs

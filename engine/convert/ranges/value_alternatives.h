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

/// Another way to quantize a value, with its loss, computed without running the model. A value
/// type.
struct Alternative
{
    std::string name; ///< "histogram, mse", "7 bits", "per tensor", "float"
    ObserverSpec spec; ///< a float32 placeholder for "float"
    QParams qparams; ///< resulting parameters; without scales for "float"
    /// SQNR in dB of the value quantized in this way; empty for "float" or without a signal.
    std::optional<double> sqnrDb;
    bool current = false; ///< the current way
    bool byRule = false; ///< the way without the edge or node rule that decides now
    /// True if a calibration on the same data would choose these parameters.
    bool exactParameters = false;
    bool exactError = false; ///< computed from the values (weights), not from a histogram
};

/// Returns alternatives for an activation with a per-tensor observer: other observers, range
/// methods, bit widths and schemes. Empty without a histogram.
std::vector<Alternative> valueAlternatives(const ObserverStats& stats);

/// Returns alternatives for any observer of the plan; for a weight they are computed from the
/// weight itself, with folded batch norms. If an edge or node rule decides, includes the result of
/// the other rules (`byRule`). Empty without statistics.
Result<std::vector<Alternative>> alternativesOf(const PreparedModel& prepared,
                                                const Observations& observations, ObserverId id,
                                                const JobContext& job);

using AlternativesTable = std::map<ObserverId, std::vector<Alternative>>;
Result<AlternativesTable> allAlternatives(const PreparedModel& prepared,
                                          const Observations& observations, const JobContext& job);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"
#include "engine/plan/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// Predicted peak of main memory over a whole run, from calibration to export, computed from shapes
/// and plan before anything runs. For its accuracy see tests/bench/README.md.
struct MemoryPrediction
{
    struct Stage
    {
        std::string name; ///< "calibrate", "convert", "compare", "export"
        std::int64_t fixed = 0; ///< bytes of program and weights
        std::int64_t values = 0; ///< bytes that grow with the batch
        std::int64_t bytes() const { return fixed + values; }
    };
    std::vector<Stage> stages;
    std::int64_t samples = 0; ///< per batch
    std::int64_t device = 0; ///< bytes that must be free on a device (`MemoryEstimate::needed`)

    /// The stage with the largest prediction.
    const Stage& peak() const;
    /// "about 560 MB of memory for batches of 8, most in compare"
    std::string text() const;
};

/// Predicts for batches of `samples` if the model's shapes leave the batch open. A value of unknown
/// shape counts as 0 bytes.
MemoryPrediction predictMemory(const Graph& model, const Plan& plan, std::int64_t samples);

/// Refuses (Device) a run that needs more than the user's limit (`setMemoryLimit`); the error gives
/// both figures and the largest batch size that fits.
Result<void> checkMemoryLimit(const Graph& model, const Plan& plan, std::int64_t samples);

/// `settings` with batches small enough for the user's memory limit: the batch size is divided by a
/// whole number and the number of batches multiplied by it, so that the samples are the same.
/// Unchanged if they fit, if no size fits, and for a sequence, whose batches carry a state.
CalibrationSettings withinMemoryLimit(const Graph& model, const Plan& plan,
                                      CalibrationSettings settings);

} // namespace qs

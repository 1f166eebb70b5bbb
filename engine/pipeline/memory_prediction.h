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
    std::int64_t samples = 0; ///< of a batch

    /// The stage that takes most.
    const Stage& peak() const;
    /// "about 560 MB of memory for batches of 8, most in compare"
    std::string text() const;
};

/// For batches of `samples`, where the model's own shapes leave that open. A value whose shape is
/// not known counts nothing.
MemoryPrediction predictMemory(const Graph& model, const Plan& plan, std::int64_t samples);

/// Refuses (Device) a run that takes more than the user gives (`setMemoryLimit`), with both figures
/// and the batch size that would do.
Result<void> checkMemoryLimit(const Graph& model, const Plan& plan, std::int64_t samples);

/// `settings` with batches so small that a run keeps to what the user gives, each a whole part of
/// one of before, and so many more of them that the samples are the same; as given where they fit,
/// where none would, and of a sequence, whose batches carry a state.
CalibrationSettings withinMemoryLimit(const Graph& model, const Plan& plan,
                                      CalibrationSettings settings);

} // namespace qs

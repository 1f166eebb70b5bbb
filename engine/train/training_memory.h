// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/train/training.h"
#include "engine/train/training_graph.h"

#include <cstdint>
#include <string>

namespace qs {

/// Predicted peak of main memory of a training, computed from shapes before it runs.
struct TrainingMemory
{
    std::int64_t samples = 0; ///< per batch
    std::int64_t fixed = 0; ///< bytes of the program, weights, gradients, optimizer and best state
    std::int64_t values = 0; ///< bytes of the values of one step
    /// Limit of the values that a step keeps, by shapes (`TrainingPass::create`); 0 = none.
    std::int64_t limit = 0;
    std::int64_t bytes() const { return fixed + values; }
    std::string text() const; ///< "about 560 MB of memory for batches of 8"
};

/// Predicts for batches of `samples`. With a limit (bytes, 0 = none) that a step as a whole
/// exceeds, predicts for a step by segments.
TrainingMemory predictTrainingMemory(const TrainingGraph& graph, const TrainingSettings& settings,
                                     std::int64_t samples, std::int64_t limit);

/// The prediction for the largest batch, `samples` divided by a whole number, that fits into the
/// limit. Errors (Device, with both figures): none fits.
Result<TrainingMemory> fitTrainingMemory(const TrainingGraph& graph,
                                         const TrainingSettings& settings, std::int64_t samples,
                                         std::int64_t limit);

} // namespace qs

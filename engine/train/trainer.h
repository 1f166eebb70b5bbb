// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/train/fake_quantizer.h"
#include "engine/train/training.h"
#include "engine/train/training_graph.h"

namespace qs {

/// What a training works on. Borrows all but the teacher.
struct TrainingTask
{
    const TrainingGraph& graph;
    GraphPtr teacher; ///< the float model, towards whose outputs it trains
    const Dataset& data;
    StartRanges start {}; ///< empty: none, as after torch.ao's prepare
    /// Outputs, from the first on, that the guard is measured on; all count in the loss.
    std::size_t measured = std::size_t(-1);
    std::size_t valueBytes = 0; ///< `TrainingPass::create`'s limit
};

/// Trains with simulated quantization. Without a start, values saturate as in torch.ao's modules,
/// else as in the converted model; the guard is measured as the converted model computes. The same
/// arguments and threads give the same result to the bit. A cancel after the first step ends the
/// training with its best state so far; before it, it is an error. `store` keeps checkpoints; a
/// resumed training ends as an uninterrupted one, to the bit. Errors: a loss that is not finite
/// (with the step; `see` had the last good state), no guard, labels that the data do not have;
/// those of the data and the nodes.
Result<Training> train(const TrainingTask& task, const TrainingSettings& settings,
                       const TrainingStore& store, const SeeTraining& see, const JobContext& job);

/// The first observer of the plan that needs `start`; null without one.
const PlannedObserver* needingCalibration(const Plan& plan, bool learnsScales);

} // namespace qs

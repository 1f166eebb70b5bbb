// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/train/training.h"

namespace qs {

/// A training of a model on the calibration data of `settings`, all of them.
struct TrainRequest
{
    GraphPtr model; ///< after its edits
    GraphPtr teacher; ///< the same before any training
    PlanPtr plan; ///< of the recipe
    Recipe recipe;
    RunSettings settings;
    TrainingSettings training; ///< the device is that of `settings`
    /// Whose ranges the training starts from. Null: from none, as after torch.ao's prepare.
    CalibrationPtr start;
    std::string dataHash; ///< of the data's content
    /// File for checkpoints, about every 30 s and at a cancel; removed at the end. Empty: none.
    std::string checkpoint;
    bool resumes = false; ///< continue from the checkpoint
};

/// Trains with simulated quantization (`train`). If four batches of the recipe's size leave no
/// batch for the guard, batches are smaller. Errors: a plan that needs a calibration to start from
/// (Usage); those of the data and of `train`.
Result<Training> trainModel(StageChain& chain, const TrainRequest& request, const SeeTraining& see,
                            const JobContext& job);

/// The document of a training ("quantscope.training", version 1).
Json trainingJson(const TrainRequest& request, const Training& training);

} // namespace qs

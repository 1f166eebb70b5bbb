// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/pipeline/stages.h"
#include "engine/train/training_memory.h"

#include <memory>
#include <string>

namespace qs {

class StageChain;

/// Data, in batches for a training, and the memory that it needs.
struct TrainingData
{
    std::shared_ptr<const Dataset> data;
    TrainingMemory memory;
    std::string note; ///< on batches smaller than the recipe's because of the memory; else empty
};

/// All of the data of a request: in smaller batches than the recipe's if the guard needs them, or
/// on the CPU the user's memory limit. Errors: those of the data; a limit that no batch keeps.
Result<TrainingData> trainingData(StageChain& chain, const TrainRequest& request,
                                  const TrainingGraph& graph, bool isOnCpu);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/train/training.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// Everything from which an interrupted training continues. A value; tensors may be undefined.
struct TrainingCheckpoint
{
    Training made; ///< without the model
    TrainingSettings settings; ///< of the training; read by `readInterrupted`
    bool fromScratch = false; ///< likewise: without ranges to start from
    std::vector<std::int64_t> left; ///< batches left of this pass over the data
    std::vector<std::int64_t> seen; ///< batches trained on so far
    std::string random; ///< state of the generator that orders batches
    double lossSum = 0; ///< since the last point
    int lossSteps = 0;
    double seconds = 0; ///< that the training ran
    std::vector<at::Tensor> state, best; ///< snapshots of the `TrainingState`
    std::vector<at::Tensor> optimizer; ///< `Optimizer::state`
};

/// Writes the checkpoint atomically to the store's file. Errors: Io.
Result<void> writeCheckpoint(const TrainingCheckpoint& checkpoint, const TrainingStore& store);
/// Errors: no file (NotFound), another training's or a damaged one (BadInput); they name the file.
Result<TrainingCheckpoint> readCheckpoint(const TrainingStore& store);

} // namespace qs

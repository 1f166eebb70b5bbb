// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/pipeline/stages.h"

namespace qs {

class StageChain;

/// Trains with simulated quantization (`train`), as `EngineService::train`, but saves nothing.
Result<Training> trainModel(StageChain& chain, const TrainRequest& request, const SeeTraining& see,
                            const JobContext& job);

/// `EngineService::forecast`.
Result<TrainingForecast> forecastTraining(StageChain& chain, const TrainRequest& request,
                                          const JobContext& job);

/// The document of a training ("quantscope.training", version 1).
Json trainingJson(const TrainRequest& request, const Training& training);

} // namespace qs

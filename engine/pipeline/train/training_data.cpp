// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/train/training_data.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/pipeline/stage_chain.h"

#include <algorithm>

namespace qs {

namespace {

using DatasetPtr = std::shared_ptr<const Dataset>;

/// All of the data in batches of `samples`; null if the model or the data do not allow this size.
DatasetPtr inBatchesOf(StageChain& chain, const TrainRequest& request, std::int64_t samples)
{
    CalibrationSettings cut = request.recipe.calibration;
    cut.batches = 0;
    cut.batchSize = int(samples);
    return chain.inSmallBatches(*request.model, request.settings.calibrationData, cut);
}

/// All of the data; in smaller batches if a guard needs them and the model allows it.
Result<DatasetPtr> forGuard(StageChain& chain, const TrainRequest& request)
{
    CalibrationSettings cut = request.recipe.calibration;
    cut.batches = 0;
    QS_TRY(DatasetPtr data, chain.data(*request.model, request.settings.calibrationData, cut));
    const std::int64_t count = data->batchCount();
    const double share = request.training.guard;
    if (share <= 0 || count >= batchesForGuard(share) || count == 0)
        return data;
    QS_TRY(const Batch last, data->batch(count - 1));
    const std::int64_t samples = (count - 1) * cut.batchSize + last.samples;
    const DatasetPtr smaller
        = inBatchesOf(chain, request, std::max<std::int64_t>(1, samples / batchesForGuard(share)));
    return smaller ? smaller : data;
}

} // namespace

Result<TrainingData> trainingData(StageChain& chain, const TrainRequest& request,
                                  const TrainingGraph& graph, bool isOnCpu)
{
    TrainingData made;
    QS_TRY(made.data, request.batches ? request.batches : forGuard(chain, request));
    if (made.data->batchCount() == 0)
        return made;
    QS_TRY(const Batch first, made.data->batch(0));
    const auto limit = isOnCpu ? memoryLimit() : std::int64_t(0);
    QS_TRY(made.memory, fitTrainingMemory(graph, request.training, first.samples, limit));
    if (made.memory.samples == first.samples)
        return made;
    const TrainingMemory needed
        = predictTrainingMemory(graph, request.training, first.samples, limit);
    const DatasetPtr smaller
        = request.batches ? nullptr : inBatchesOf(chain, request, made.memory.samples);
    if (smaller) {
        made.data = smaller;
        made.note = smallerBatchesNote(made.memory.samples, first.samples,
                                       "a training needs " + needed.text());
        return made;
    }
    return fail(makeError(ErrorCode::Device,
                          "the training needs " + needed.text() + ", where --memory gives "
                              + memoryText(limit))
                    .inFile(request.settings.calibrationData)
                    .withHint("give more with --memory: these data have one batch size"));
}

} // namespace qs

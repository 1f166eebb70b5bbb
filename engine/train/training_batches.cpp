// SPDX-License-Identifier: Apache-2.0
#include "engine/train/training_batches.h"

namespace qs {

TrainingBatches::TrainingBatches(const Dataset& data, const TrainingSettings& settings)
    : m_data(&data)
    , m_device(settings.device)
{
    for (std::int64_t i = 0; i < data.batchCount(); ++i)
        (settings.guard > 0 && isGuardBatch(i, settings.guard) ? m_guard : m_trained).push_back(i);
}

Result<TrainingBatches> TrainingBatches::create(const Dataset& data,
                                                const TrainingSettings& settings)
{
    TrainingBatches made(data, settings);
    if (settings.guard > 0 && made.m_guard.empty())
        return fail(makeError(ErrorCode::BadInput,
                              "too few samples for a guard, which needs "
                                  + std::to_string(batchesForGuard(settings.guard))
                                  + " batches; the data give " + std::to_string(data.batchCount()))
                        .withHint("give more samples, or --no-guard"));
    if (made.m_trained.empty())
        return fail(ErrorCode::BadInput, "the data hold no batch");
    if (settings.loss == TrainingLoss::Labels && !data.hasLabels())
        return fail(makeError(ErrorCode::BadInput, "the data have no labels to train by")
                        .withHint("--loss distill needs none"));
    return made;
}

Result<TrainingBatch> TrainingBatches::read(std::int64_t number) const
{
    QS_TRY(Batch batch, m_data->batch(number));
    for (const auto& error : batch.notFinite)
        if (error)
            return fail(*error);
    TrainingBatch made {batch.samples, std::move(batch.inputs), std::move(batch.labels)};
    for (at::IValue& input : made.inputs)
        if (input.isTensor())
            input = input.toTensor().to(m_device);
    if (made.labels.defined())
        made.labels = made.labels.to(m_device);
    return made;
}

} // namespace qs

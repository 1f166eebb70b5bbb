// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/dataset.h"
#include "engine/compare/preview_run.h"
#include "engine/convert/convert.h"
#include "engine/pipeline/chain_run.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/content_keys.h"
#include "engine/pipeline/observe_part.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace qs {

namespace {

/// More samples would tell little more and take longer.
constexpr std::int64_t kMostSamples = 8;

/// Names of the float nodes whose values these observers watch, in graph order.
std::vector<std::string> observedNodes(const PreparedModel& prepared,
                                       const std::unordered_set<ObserverId>& observers)
{
    std::unordered_set<NodeId> nodes;
    for (const PlannedObserver& observer : prepared.plan->observers) {
        if (!observers.contains(observer.id) || observer.isWeight) // weights are seen whole
            continue;
        if (!observer.interior.empty())
            nodes.insert(observer.weightOwner);
        for (const ObservedEdge& edge : observer.edges)
            nodes.insert(edge.value.node);
    }
    std::vector<std::string> names;
    for (const NodePtr& node : prepared.model->nodes())
        if (nodes.contains(node->id))
            names.push_back(node->name);
    return names;
}

} // namespace

Result<std::shared_ptr<const Dataset>> StageChain::previewData(const Run& run,
                                                               const PreviewRequest& request)
{
    const PreparedModel& prepared = *run.prepared;
    CalibrationSettings cut = request.recipe.calibration;
    cut.batches = 1;
    // Half of the memory is for the reference form's values.
    cut.batchSize = int(previewSamples(*prepared.model, *prepared.plan, m_options.previewBytes / 2,
                                       std::min<std::int64_t>(kMostSamples, cut.batchSize)));
    return data(*prepared.model, request.settings.compared(), cut);
}

Result<PreviewPtr> StageChain::preview(const PreviewRequest& request, const JobContext& job)
{
    QS_TRY(const PlanPtr planned, plan(request.model, request.recipe));
    QS_TRY(const Run run, prepareRun({request.model, planned, request.recipe, request.settings}, job));
    QS_TRY(const auto samples, previewData(run, request));
    CalibrationPtr seen = assemble(run);
    std::vector<std::string> estimated;
    if (!seen) {
        if (!m_memo.find<Amount>(run.amountKey()))
            return fail(ErrorCode::BadInput,
                        "nothing was calibrated on these data: calibrate first");
        const auto missing = unseen(run);
        const Key fewKey = KeyBuilder("few statistics")
                               .add(run.key)
                               .add(request.settings.compared())
                               .add(std::int64_t(missing.size()))
                               .key();
        const PreparedPtr part = partToObserve(run.prepared, missing);
        ObservationsPtr few = m_memo.find<Observations>(fewKey);
        if (!few) {
            QS_TRY(few, ::qs::calibrate(*part, *samples, run.device.device, job));
            m_memo.keep<Observations>(fewKey, few, few->observers.size() * (std::size_t(32) << 10));
        }
        for (const auto& [id, weight] : part->observedWeight)
            if (const ObserverStats* stats = few->tryGet(id))
                m_statistics.keep(run.seen.at(id), *stats);
        seen = gather(run, few.get());
        if (!seen) // what was kept of the others had to go
            return fail(ErrorCode::BadInput,
                        "what the observers saw is no longer kept: calibrate again");
        estimated = observedNodes(*run.prepared, missing);
    }
    const PreparedModel& prepared = *run.prepared;
    QS_CHECK(checkCalibrated(*prepared.model, *prepared.plan, seen->qparams,
                             request.recipe.uncalibrated));
    QS_TRY(const ReferenceModel converted,
           convertToReference(run.prepared, seen->qparams, request.recipe.backend, job));
    QS_TRY(const Batch batch, samples->batch(0));
    QS_TRY(const Key content,
           m_hashes.of(request.settings.compared(), prepared.model->info().sha256));
    CalibrationSettings cut = request.recipe.calibration;
    cut.batchSize = int(batch.samples);
    const Continuation from {m_previewWork,
                             KeyBuilder("preview")
                                 .add(modelKey(*prepared.model))
                                 .add(batchesKey(content, cut, 1))
                                 .add(run.device.device)
                                 .add(std::int64_t(at::get_num_threads()))
                                 .key(),
                             1};
    QS_TRY(Preview made,
           previewErrors(*converted.model, batch, run.device.device, job,
                         samples->isSequence() ? nullptr : &from));
    made.estimated = std::move(estimated);
    return std::make_shared<const Preview>(std::move(made));
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/stages/preview_stage.h"

#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/preview_run.h"
#include "engine/convert/convert.h"
#include "engine/convert/form_edits.h"
#include "engine/convert/form_parts.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/observe_part.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace qs {

namespace {

/// Most samples of a preview; more would add little information and take longer.
constexpr std::int64_t kMostSamples = 8;
/// Approximate size of one observer's statistics.
constexpr std::size_t kStatisticsBytes = std::size_t(32) << 10;

/// Names of the float nodes whose values these observers observe, in graph order.
std::vector<std::string> observedNodes(const PreparedModel& prepared,
                                       const std::unordered_set<ObserverId>& observers)
{
    std::unordered_set<NodeId> nodes;
    for (const PlannedObserver& observer : prepared.plan->observers) {
        if (!observers.contains(observer.id) || observer.isWeight) // weights need no estimate
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

/// The observers of activations that observe values of the float nodes with these names.
std::unordered_set<ObserverId> observersOn(const PreparedModel& prepared,
                                           const std::vector<std::string>& names)
{
    std::unordered_set<NodeId> nodes;
    for (const std::string& name : names)
        if (const Node* node = prepared.model->tryFind(name))
            nodes.insert(node->id);
    std::unordered_set<ObserverId> found;
    for (const PlannedObserver& observer : prepared.plan->observers)
        if (!observer.isWeight
            && (nodes.contains(observer.weightOwner)
                || std::any_of(
                    observer.edges.begin(), observer.edges.end(),
                    [&](const ObservedEdge& edge) { return nodes.contains(edge.value.node); })))
            found.insert(observer.id);
    return found;
}

} // namespace

Result<PreviewStage::PreviewData>
PreviewStage::previewData(const Run& run, const PreviewRequest& request, const JobContext& job)
{
    const Graph& model = *run.prepared->model;
    CalibrationSettings cut = request.recipe.calibration;
    cut.batches = 1;
    // The rest of the memory is for the reference form: values at its cuts, packed weights.
    cut.batchSize = int(previewSamples(model, m_previewWork.values.budget() / 2,
                                       std::min<std::int64_t>(kMostSamples, cut.batchSize)));
    QS_TRY(const Key content, m_hashes.of(request.settings.compared(), model.info().sha256, job));
    PreviewData made;
    made.samplesKey
        = KeyBuilder("samples").add(batchesKey(content, cut, 1)).add(run.device.device).key();
    made.key = KeyBuilder("preview")
                   .add(modelKey(model))
                   .add(made.samplesKey)
                   .add(std::int64_t(at::get_num_threads()))
                   .key();
    QS_TRY(made.data, data(model, request.settings.compared(), cut));
    made.batch = m_memo.find<Batch>(made.key);
    if (!made.batch) {
        QS_TRY(Batch batch, made.data->batch(0));
        std::size_t bytes = 0;
        for (const at::IValue& input : batch.inputs)
            bytes += input.isTensor() ? std::size_t(input.toTensor().nbytes()) : 0;
        made.batch = std::make_shared<const Batch>(std::move(batch));
        m_memo.keep<Batch>(made.key, made.batch, bytes);
    }
    return made;
}

Result<CalibrationPtr> PreviewStage::estimate(const Run& run, const PreviewData& samples,
                                              const std::vector<std::string>& wanted,
                                              std::vector<std::string>& estimated,
                                              const JobContext& job)
{
    if (!m_memo.find<Amount>(run.amountKey()))
        return fail(ErrorCode::BadInput, "nothing was calibrated on these data: calibrate first");
    auto missing = unseen(run);
    missing.merge(observersOn(*run.prepared, wanted));
    const PreparedPtr part = partToObserve(run.prepared, missing);
    const Key key = KeyBuilder("few statistics").add(run.key).add(samples.key).key();
    ObservationsPtr few = m_memo.find<Observations>(key);
    const bool isEnough = few && std::all_of(missing.begin(), missing.end(), [&](ObserverId id) {
                              return few->tryGet(id) != nullptr;
                          });
    if (!isEnough) {
        QS_TRY(few, ::qs::calibrate(*part, *samples.data, run.device.device, job));
        m_memo.keep<Observations>(key, few, few->observers.size() * kStatisticsBytes);
    }
    for (const auto& [id, weight] : part->observedWeight) // exact, independent of the samples
        if (const ObserverStats* stats = few->tryGet(id))
            m_statistics.keep(run.seen.at(id), *stats);
    Observations fresh = *few; // cached statistics take precedence over those of a few samples
    std::erase_if(fresh.observers,
                  [&](const ObserverStats& stats) { return !missing.contains(stats.id); });
    CalibrationPtr seen = gather(run, &fresh);
    if (!seen) // cached statistics of the others were evicted
        return fail(ErrorCode::BadInput,
                    "what the observers saw is no longer kept: calibrate again");
    estimated = observedNodes(*run.prepared, missing);
    return seen;
}

Result<PreviewPtr> PreviewStage::preview(const PreviewRequest& request, const JobContext& job)
{
    if (measuresOriginal(request.settings, *request.model))
        return fail(ErrorCode::Unsupported,
                    "previews measure against the edited model, not against the original one");
    QS_TRY(const PlanPtr planned, plan(request.model, request.recipe, job));
    QS_TRY(const Run run,
           prepareRun({request.model, planned, request.recipe, request.settings}, job));
    QS_TRY(const PreviewData samples, previewData(run, request, job));
    CalibrationPtr seen = request.estimated.empty() ? assemble(run) : nullptr;
    std::vector<std::string> estimated;
    if (!seen) {
        QS_TRY(seen, estimate(run, samples, request.estimated, estimated, job));
    }
    const PreparedModel& prepared = *run.prepared;
    QS_CHECK(checkCalibrated(*prepared.model, *prepared.plan, seen->qparams,
                             request.recipe.uncalibrated));
    QS_TRY(const ReferenceModel converted,
           convertToReference(run.prepared, seen->qparams, request.recipe.target(), job));
    QS_TRY(ConvertedPtr edited, withFormEdits(converted.model, request.recipe, job));
    edited = onModelInputs(edited);
    const Continuation from {m_previewWork, samples.key, 1};
    QS_TRY(Preview made,
           previewErrors(*edited, *samples.batch, run.device.device, job,
                         samples.data->isSequence() ? nullptr : &from));
    made.estimated = std::move(estimated);
    made.samplesKey = samples.samplesKey;
    return std::make_shared<const Preview>(std::move(made));
}

} // namespace qs

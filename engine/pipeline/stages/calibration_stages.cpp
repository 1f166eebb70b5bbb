// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/stages/calibration_stages.h"

#include "engine/base/log.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/convergence/range_recorder.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/given_stats.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/clipped_values.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/memory_prediction.h"
#include "engine/pipeline/observe_part.h"
#include "engine/plan/block/prepare_lists.h"
#include "engine/plan/rules/given_ranges.h"
#include "engine/prepare/prepare.h"
#include "engine/prepare/value_keys.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <filesystem>

namespace qs {

namespace {

using Clock = std::chrono::steady_clock;

/// Follows the observers that choose an activation's range from the data.
RangeRecorder rangeRecorder(const PreparedModel& prepared, std::shared_ptr<CalibrationWatch> watch)
{
    std::vector<RangeHistory> followed;
    for (const PlannedObserver& observer : prepared.plan->observers)
        if (!observer.isWeight && choosesQParams(observer.spec)
            && observer.spec.kind != ObserverKind::FixedQParams
            && !givenFor(*prepared.model, observer))
            followed.push_back({observer.id, observedName(*prepared.model, observer), {}});
    return {std::move(followed),
            [](const ObserverStats& stats) {
                const ValueRange range = wholeRange(stats);
                return std::pair(range.min, range.max);
            },
            std::move(watch)};
}

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace

Result<CalibrationStages::Run> CalibrationStages::prepareRun(const CalibrateRequest& request,
                                                             const JobContext& job)
{
    QS_CHECK(checkFloat(*request.model));
    Run run;
    QS_TRY(run.device,
           chooseDevice(request.settings.device, *request.model, m_options.group->localRank()));
    const CalibrationSettings& cut = request.recipe.calibration;
    const std::string& source = request.settings.calibrationData;
    QS_TRY(const GraphPtr model, typed(request.model, request.recipe, request.settings, job));
    PlanPtr planned = request.plan;
    if (model != request.model || !planned) {
        QS_TRY(planned, plan(model, request.recipe, job));
    }
    QS_CHECK(checkCoverage(*model, *planned));
    QS_TRY(run.data, data(*model, source, cut));
    QS_TRY(const Key content, m_hashes.of(source, model->info().sha256, job));
    run.dataKey = batchesKey(content, cut, run.data->batchCount());
    std::error_code code;
    const bool folder = std::filesystem::is_directory(source, code); // its images are sampled
    run.resumeKey = folder ? run.dataKey : batchesKey(content, cut, 0);
    const auto machine = run.device.device + " " + std::to_string(at::get_num_threads());
    const Key ofPlan = planKey(*model, request.recipe);
    run.key = KeyBuilder("calibration").add(ofPlan).add(run.dataKey).add(machine).key();
    const auto start = Clock::now();
    job.report("prepare", "fusing and inserting observers", 0);
    const Key preparedKey = KeyBuilder("prepared").add(ofPlan).key();
    run.prepared = m_memo.find<PreparedModel>(preparedKey);
    if (!run.prepared || run.prepared->plan != planned) {
        QS_TRY(run.prepared, prepareModel(model, planned, job));
        m_memo.keep<PreparedModel>(preparedKey, run.prepared, heldBytes(*run.prepared->graph));
    }
    run.prepareSeconds = secondsSince(start);
    run.watch = request.watch;
    // In a sequence, the state that the model keeps between batches depends on the whole graph.
    const std::string whole = cut.isSequence ? printGraph(*run.prepared->graph) : std::string();
    for (auto& [id, seen] : observedKeys(*run.prepared)) {
        const PlannedObserver& planned = run.prepared->plan->observers[id.value() - 1];
        const bool isGiven = givenFor(*run.prepared->model, planned) != nullptr;
        const bool isWeight = run.prepared->observedWeight.contains(id);
        run.seen[id] = KeyBuilder("statistics")
                           .add(seen)
                           .add(isWeight ? Key() : run.dataKey)
                           .add(machine)
                           .add(whole + (isGiven ? " given" : ""))
                           .key();
    }
    return run;
}

std::shared_ptr<Calibration> CalibrationStages::gather(const Run& run, const Observations* fresh)
{
    const auto amount = m_memo.find<Amount>(run.amountKey());
    if (!amount && !fresh)
        return nullptr;
    auto seen = std::make_shared<Observations>();
    for (const PlannedObserver& observer : run.prepared->plan->observers) {
        if (const ObserverStats* now = fresh ? fresh->tryGet(observer.id) : nullptr) {
            seen->observers.push_back(*now);
            continue;
        }
        auto stats = m_statistics.find(run.seen.at(observer.id), observer.id, observer.spec);
        if (!stats)
            return nullptr;
        seen->observers.push_back(std::move(*stats));
    }
    takeGivenRanges(*run.prepared->model, *run.prepared->plan, *seen);
    seen->batches = fresh ? fresh->batches : amount->batches;
    seen->samples = fresh ? fresh->samples : amount->samples;
    seen->device = run.device.device;
    seen->threads = at::get_num_threads();
    auto out = std::make_shared<Calibration>();
    out->prepared = run.prepared;
    out->qparams = chooseAllQParams(*seen);
    out->observations = std::move(seen);
    out->device = run.device.device;
    out->note = run.device.note;
    out->prepareSeconds = run.prepareSeconds;
    out->resumeKey = run.resumeKey;
    out->key = run.key;
    return out;
}

CalibrationPtr CalibrationStages::assemble(const Run& run, const Observations* fresh)
{
    if (auto kept = m_memo.find<Calibration>(run.key))
        return kept;
    CalibrationPtr made = gather(run, fresh);
    if (made)
        m_memo.keep<Calibration>(run.key, made, heldBytes(*run.prepared->graph));
    return made;
}

std::optional<Checkpoint> CalibrationStages::checkpointOf(const PreparedModel& prepared,
                                                          const Key& resumeKey,
                                                          const std::string& device) const
{
    const std::filesystem::path folder = m_options.checkpointFolder;
    std::error_code code;
    if (!folder.empty())
        std::filesystem::create_directories(folder, code);
    if (folder.empty() || code)
        return std::nullopt;
    return Checkpoint((folder / kCheckpointFile).string(),
                      calibrationKey(prepared, resumeKey, device));
}

Result<void> CalibrationStages::saveCheckpoint(const Calibration& calibration) const
{
    const auto checkpoint
        = checkpointOf(*calibration.prepared, calibration.resumeKey, calibration.device);
    return checkpoint ? checkpoint->save(*calibration.observations) : Result<void>();
}

std::unordered_set<ObserverId> CalibrationStages::unseen(const Run& run)
{
    std::unordered_set<ObserverId> missing;
    for (const PlannedObserver& observer : run.prepared->plan->observers)
        if (!m_statistics.find(run.seen.at(observer.id), observer.id, observer.spec))
            missing.insert(observer.id);
    return missing;
}

Result<ObservationsPtr> CalibrationStages::observe(const Run& run, const JobContext& job, bool all,
                                                   RunFindings& found)
{
    const std::unordered_set<ObserverId> missing = unseen(run);
    const bool known = m_memo.find<Amount>(run.amountKey()) != nullptr;
    const PreparedPtr part = known && !all ? partToObserve(run.prepared, missing) : run.prepared;
    const auto checkpoint = checkpointOf(*part, run.resumeKey, run.device.device);
    found = {};
    RangeRecorder ranges = rangeRecorder(*part, run.watch);
    QS_TRY(const ObservationsPtr seen,
           ::qs::calibrate(
               *part, *run.data, run.device.device, job,
               {checkpoint ? &*checkpoint : nullptr, &found, &ranges, m_options.group.get()}));
    if (checkpoint && m_options.group->isFirst())
        checkpoint->remove();
    keepStatistics(run, *seen);
    return seen;
}

Result<bool> CalibrationStages::correctShapes(const CalibrateRequest& request, const Run& run,
                                              const RecordedShapes& shapes, const JobContext& job)
{
    const GraphPtr& model = run.prepared->model;
    const Key tried = KeyBuilder("shapes").add(modelKey(*model)).add(run.dataKey).key();
    {
        const std::lock_guard lock(m_shapesMutex);
        if (!m_triedShapes.insert(tried).second || !correctedShapesText(model->info()).empty())
            return false;
    }
    QS_TRY(auto corrected, contradictedShapes(model, *run.data, shapes, job));
    if (corrected.empty())
        return false;
    const std::lock_guard lock(m_shapesMutex);
    if (m_notedShapes.insert(model->info().sha256).second)
        note(correctedShapesNote(*model, corrected));
    m_corrected.insert_or_assign(modelKey(*request.model), std::move(corrected));
    return true;
}

void CalibrationStages::keepStatistics(const Run& run, const Observations& seen)
{
    for (const ObserverStats& stats : seen.observers)
        m_statistics.keep(run.seen.at(stats.id), stats);
    m_memo.keep<Amount>(run.amountKey(),
                        std::make_shared<const Amount>(Amount {seen.batches, seen.samples}),
                        sizeof(Amount));
}

Result<void> CalibrationStages::keepToMemoryLimit(const Graph& model, const Plan& plan,
                                                  std::int64_t samples)
{
    if (memoryLimit() <= 0)
        return {};
    if (auto fits = checkMemoryLimit(model, plan, samples); !fits)
        return fail(std::move(fits).error().inFile(model.info().path));
    if (m_options.valueBytes == 0) // a program that runs once
        return {};
    const std::int64_t run = predictMemory(model, plan, samples).peak().bytes();
    const std::int64_t room = memoryLimit() - run - std::int64_t(m_statistics.bytes());
    const std::size_t wanted
        = m_options.valueBytes + m_options.previewBytes + m_options.resultBytes;
    const std::size_t kept = std::min(wanted, std::size_t(std::max<std::int64_t>(room, 0)));
    const auto share = [&](std::size_t bytes) {
        return std::size_t(double(bytes) * double(kept) / double(wanted));
    };
    m_work.values.setBudget(share(m_options.valueBytes));
    m_previewWork.values.setBudget(share(m_options.previewBytes));
    m_memo.setBudget(share(m_options.resultBytes));
    if (kept < wanted && m_reportedBytes.exchange(kept) != kept)
        note("--memory gives " + memoryText(memoryLimit()) + ", of which a run takes "
             + memoryText(run) + ": " + memoryText(std::int64_t(kept)) + " of results and values"
             + " are kept for comparisons and previews instead of "
             + memoryText(std::int64_t(wanted)));
    return {};
}

// Repeats with the non-finite values of each round left out in the next.
Result<CalibrationPtr> CalibrationStages::calibrate(const CalibrateRequest& request,
                                                    const JobContext& job)
{
    CalibrateRequest now = request;
    std::map<std::string, std::string> known;
    for (;;) {
        RunFindings found;
        auto made = calibrateOnce(now, job, found);
        if (made && !known.empty()) {
            auto whole = std::make_shared<Calibration>(**made);
            whole->notFinite = std::move(known);
            return CalibrationPtr(whole);
        }
        const std::size_t before = known.size();
        for (NonFiniteValue& value : found.nonFinite)
            known.emplace(std::move(value.name), std::move(value.seen));
        if (made || known.size() == before)
            return made;
        now.recipe = withNotFinite(request.recipe, known);
        now.plan = nullptr;
    }
}

Result<CalibrationPtr> CalibrationStages::calibrateOnce(const CalibrateRequest& request,
                                                        const JobContext& job, RunFindings& found)
{
    const auto start = Clock::now();
    QS_TRY(Run run, prepareRun(request, job));
    job.report("calibrate", "choosing ranges", 0);
    if (CalibrationPtr kept = assemble(run))
        return kept;
    QS_CHECK(keepToMemoryLimit(*run.prepared->model, *run.prepared->plan,
                               request.recipe.calibration.batchSize));
    QS_TRY(ObservationsPtr seen, observe(run, job, false, found));
    job.report("calibrate", "choosing ranges", 1.0);
    QS_CHECK(job.check());
    bool isOther = false;
    if (found.shapes.areContradicted()) {
        QS_TRY(isOther, correctShapes(request, run, found.shapes, job));
    }
    if (isOther) { // statistics are cached, but the plan may have changed
        QS_TRY(run, prepareRun(request, job));
    }
    CalibrationPtr made = assemble(run, isOther ? nullptr : seen.get());
    if (!made) { // cached statistics of the others were evicted meanwhile
        QS_TRY(seen, observe(run, job, true, found));
        made = assemble(run, seen.get());
    }
    auto timed = std::make_shared<Calibration>(*made);
    timed->seconds = secondsSince(start) - run.prepareSeconds;
    made = timed;
    m_memo.keep<Calibration>(run.key, made, heldBytes(*run.prepared->graph));
    const auto& prepared = *run.prepared;
    for (const std::string& text :
         clippedValues(*prepared.model, *prepared.plan, *made->observations, made->qparams))
        warn(text);
    return made;
}

Result<CalibrationPtr> CalibrationStages::restore(const CalibrateRequest& request,
                                                  QParamsTable qparams, Observations observations,
                                                  const std::string& documentHash,
                                                  const JobContext& job)
{
    auto out = std::make_shared<Calibration>();
    QS_TRY(const DeviceChoice device,
           chooseDevice(request.settings.device, *request.model, m_options.group->localRank()));
    const auto start = Clock::now();
    QS_TRY(out->prepared, prepareModel(request.model, request.plan, job));
    out->prepareSeconds = secondsSince(start);
    out->device = device.device;
    out->note = device.note;
    out->observations = std::make_shared<const Observations>(std::move(observations));
    out->qparams = std::move(qparams);
    out->key = KeyBuilder("restored")
                   .add(planKey(*request.model, request.recipe))
                   .add(documentHash)
                   .add(device.device)
                   .key();
    return CalibrationPtr(out);
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/stage_chain.h"

#include "engine/base/log.h"
#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/calibrate/observed_types.h"
#include "engine/compare/comparator.h"
#include "engine/configure/backend_config.h"
#include "engine/convert/choose_qparams.h"
#include "engine/convert/clipped_values.h"
#include "engine/convert/convert.h"
#include "engine/execute/fill_shapes.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_printer.h"
#include "engine/pipeline/chain_run.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/decision_keys.h"
#include "engine/pipeline/observe_part.h"
#include "engine/pipeline/value_keys.h"
#include "engine/plan/planner.h"
#include "engine/prepare/prepare.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <unordered_set>

namespace qs {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A file does not tell all of a model: a run may have told more.
Key modelKey(const Graph& model)
{
    KeyBuilder key("model");
    key.add(model.info().sha256);
    if (model.info().sha256.empty() || model.info().format == "torchscript")
        key.add(printGraph(model));
    return key.key();
}

Key planKey(const Graph& model, const Recipe& recipe)
{
    return KeyBuilder("plan")
        .add(modelKey(model))
        .add(planningKey(recipe))
        .add(loweringKey(recipe))
        .key();
}

/// The data's content and how they are cut into so many batches.
Key batchesKey(const Key& content, CalibrationSettings cut, std::int64_t batches)
{
    cut.batches = int(batches);
    return KeyBuilder("batches").add(content).add(cutKey(cut)).key();
}

Key conversionKey(const Calibration& calibration, const Recipe& recipe)
{
    return KeyBuilder("conversion").add(calibration.key).add(loweringKey(recipe)).key();
}

/// Datasets that are kept open: a calibration's and a comparison's.
constexpr std::size_t kOpenData = 2;

/// Rough sizes, for the bound of what is kept.
std::size_t bytesOf(const Plan& plan)
{
    return plan.nodes.size() * 1024;
}
std::size_t bytesOf(const Graph& graph)
{
    const auto& store = graph.tensors();
    return graph.nodes().size() * 1024 + (store ? std::size_t(store->ownBytes()) : 0);
}
std::size_t bytesOf(const ConvertedModel& model)
{
    return bytesOf(*model.reference) + bytesOf(*model.lowered);
}
std::size_t bytesOf(const Comparison& comparison)
{
    return comparison.nodes.size() * sizeof(NodeError);
}

} // namespace

StageChain::StageChain()
    : StageChain(Options())
{
}

StageChain::StageChain(Options options)
    : m_options(std::move(options))
    , m_memo(m_options.resultBytes)
    , m_statistics(m_options.statisticsBytes)
{
}

StageChain::~StageChain() = default;

Result<std::shared_ptr<const Dataset>>
StageChain::data(const Graph& model, const std::string& source, const CalibrationSettings& cut)
{
    const Key key = KeyBuilder("open data")
                        .add(modelKey(model))
                        .add(source)
                        .add(fileSignature(source))
                        .add(cutKey(cut))
                        .key();
    const std::lock_guard lock(m_dataMutex);
    for (auto it = m_opened.begin(); it != m_opened.end(); ++it)
        if (it->key == key) {
            m_opened.splice(m_opened.begin(), m_opened, it);
            return it->data;
        }
    QS_TRY(auto opened, openDataset(source, model, datasetOptions(cut)));
    std::shared_ptr<const Dataset> data = std::move(opened);
    m_opened.push_front({key, data});
    if (m_opened.size() > kOpenData)
        m_opened.pop_back();
    return data;
}

Result<GraphPtr> StageChain::typed(GraphPtr model, const Recipe& recipe,
                                   const RunSettings& settings, const JobContext& job)
{
    if (countUntyped(*model) == 0)
        return model;
    QS_TRY(const Key content, m_hashes.of(settings.calibrationData, model->info().sha256));
    const CalibrationSettings& cut = recipe.calibration;
    const Key key
        = KeyBuilder("typed").add(modelKey(*model)).add(batchesKey(content, cut, 1)).key();
    if (auto kept = m_memo.find<Graph>(key))
        return kept;
    QS_TRY(const auto opened, data(*model, settings.calibrationData, cut));
    QS_TRY(GraphPtr typed, withObservedTypes(model, *opened, job));
    m_memo.keep<Graph>(key, typed, typed->nodes().size() * 1024);
    return typed;
}

Result<PlanPtr> StageChain::plan(const GraphPtr& model, const Recipe& recipe)
{
    QS_TRY(const Backend backend, findBackend(recipe.backend));
    QS_CHECK(checkLoweringKernels(recipe));
    const Key key = planKey(*model, recipe);
    if (auto kept = m_memo.find<Plan>(key))
        return kept;
    QS_TRY(Plan made, makePlan(*model, recipe, backend));
    auto plan = std::make_shared<const Plan>(std::move(made));
    m_memo.keep<Plan>(key, plan, bytesOf(*plan));
    return plan;
}

Result<StageChain::Run> StageChain::prepareRun(const CalibrateRequest& request,
                                               const JobContext& job)
{
    QS_CHECK(checkFloat(*request.model));
    Run run;
    QS_TRY(run.device, chooseDevice(request.settings.device));
    const CalibrationSettings& cut = request.recipe.calibration;
    const std::string& source = request.settings.calibrationData;
    QS_TRY(const GraphPtr model, typed(request.model, request.recipe, request.settings, job));
    PlanPtr planned = request.plan;
    if (model != request.model || !planned) {
        QS_TRY(planned, plan(model, request.recipe));
    }
    QS_CHECK(checkCoverage(*model, *planned));
    QS_TRY(run.data, data(*model, source, cut));
    QS_TRY(const Key content, m_hashes.of(source, model->info().sha256));
    run.dataKey = batchesKey(content, cut, run.data->batchCount());
    const auto machine = run.device.device + " " + std::to_string(at::get_num_threads());
    run.key = KeyBuilder("calibration")
                  .add(planKey(*model, request.recipe))
                  .add(run.dataKey)
                  .add(machine)
                  .key();
    const auto start = Clock::now();
    job.report("prepare", "fusing and inserting observers", 0);
    const Key preparedKey = KeyBuilder("prepared").add(planKey(*model, request.recipe)).key();
    run.prepared = m_memo.find<PreparedModel>(preparedKey);
    if (!run.prepared || run.prepared->plan != planned) {
        QS_TRY(run.prepared, prepareModel(model, planned, job));
        m_memo.keep<PreparedModel>(preparedKey, run.prepared, bytesOf(*run.prepared->graph));
    }
    run.prepareSeconds = secondsSince(start);
    // In a sequence what a model keeps from batch to batch depends on all of it.
    const std::string whole = cut.isSequence ? printGraph(*run.prepared->graph) : std::string();
    for (auto& [id, seen] : observedKeys(*run.prepared)) {
        const bool isWeight = run.prepared->observedWeight.contains(id);
        run.seen[id] = KeyBuilder("statistics")
                           .add(seen)
                           .add(isWeight ? Key() : run.dataKey)
                           .add(machine)
                           .add(whole)
                           .key();
    }
    return run;
}

CalibrationPtr StageChain::assemble(const Run& run, const Observations* fresh)
{
    if (auto kept = m_memo.find<Calibration>(run.key))
        return kept;
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
    out->dataKey = run.dataKey;
    out->key = run.key;
    CalibrationPtr made = out;
    m_memo.keep<Calibration>(run.key, made, bytesOf(*run.prepared->graph));
    return made;
}

std::optional<Checkpoint> StageChain::checkpointOf(const PreparedModel& prepared,
                                                   const Key& dataKey,
                                                   const std::string& device) const
{
    const std::filesystem::path folder = m_options.checkpointFolder;
    std::error_code code;
    if (!folder.empty())
        std::filesystem::create_directories(folder, code);
    if (folder.empty() || code)
        return std::nullopt;
    return Checkpoint((folder / kCheckpointFile).string(),
                      calibrationKey(prepared, dataKey, device));
}

Result<void> StageChain::saveCheckpoint(const Calibration& calibration) const
{
    const auto checkpoint
        = checkpointOf(*calibration.prepared, calibration.dataKey, calibration.device);
    return checkpoint ? checkpoint->save(*calibration.observations) : Result<void>();
}

Result<ObservationsPtr> StageChain::observe(const Run& run, const JobContext& job, bool all)
{
    std::unordered_set<ObserverId> missing;
    for (const PlannedObserver& observer : run.prepared->plan->observers)
        if (!m_statistics.find(run.seen.at(observer.id), observer.id, observer.spec))
            missing.insert(observer.id);
    const bool known = m_memo.find<Amount>(run.amountKey()) != nullptr;
    const PreparedPtr part = known && !all ? partToObserve(run.prepared, missing) : run.prepared;
    const auto checkpoint = checkpointOf(*part, run.dataKey, run.device.device);
    QS_TRY(const ObservationsPtr seen,
           ::qs::calibrate(*part, *run.data, run.device.device, job,
                           checkpoint ? &*checkpoint : nullptr));
    if (checkpoint)
        checkpoint->remove();
    keepStatistics(run, *seen);
    return seen;
}

void StageChain::keepStatistics(const Run& run, const Observations& seen)
{
    for (const ObserverStats& stats : seen.observers)
        m_statistics.keep(run.seen.at(stats.id), stats);
    m_memo.keep<Amount>(run.amountKey(),
                        std::make_shared<const Amount>(Amount {seen.batches, seen.samples}),
                        sizeof(Amount));
}

Result<CalibrationPtr> StageChain::calibrate(const CalibrateRequest& request, const JobContext& job)
{
    const auto start = Clock::now();
    QS_TRY(const Run run, prepareRun(request, job));
    if (CalibrationPtr kept = assemble(run))
        return kept;
    QS_TRY(ObservationsPtr seen, observe(run, job, false));
    CalibrationPtr made = assemble(run, seen.get());
    if (!made) { // what was kept of the others had to go meanwhile
        QS_TRY(seen, observe(run, job, true));
        made = assemble(run, seen.get());
    }
    auto timed = std::make_shared<Calibration>(*made);
    timed->seconds = secondsSince(start) - run.prepareSeconds;
    made = timed;
    m_memo.keep<Calibration>(run.key, made, bytesOf(*run.prepared->graph));
    const auto& prepared = *run.prepared;
    for (const std::string& text :
         clippedValues(*prepared.model, *prepared.plan, *made->observations, made->qparams))
        warn(text);
    return made;
}

Result<CalibrationPtr> StageChain::restore(const CalibrateRequest& request, QParamsTable qparams,
                                           Observations observations,
                                           const std::string& documentHash, const JobContext& job)
{
    auto out = std::make_shared<Calibration>();
    QS_TRY(const DeviceChoice device, chooseDevice(request.settings.device));
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

Result<ConvertedPtr> StageChain::convert(const ConvertRequest& request, const JobContext& job)
{
    const Calibration& calibration = *request.calibration;
    const PreparedModel& prepared = *calibration.prepared;
    const Key key = conversionKey(calibration, request.recipe);
    if (auto kept = m_memo.find<ConvertedModel>(key);
        kept && kept->prepared == calibration.prepared)
        return kept;
    QS_CHECK(checkCalibrated(*prepared.model, *prepared.plan, calibration.qparams,
                             request.recipe.uncalibrated));
    QS_TRY(const auto opened,
           data(*prepared.model, request.settings.calibrationData, request.recipe.calibration));
    QS_TRY(const Batch first, opened->batch(0));
    QS_TRY(ConvertedPtr converted,
           convertModel(calibration.prepared, calibration.qparams, request.recipe, &first, job));
    m_memo.keep<ConvertedModel>(key, converted, bytesOf(*converted));
    return converted;
}

namespace {

/// The calibration's batches, or all of the data that a comparison has of its own.
CalibrationSettings comparedCut(const CompareRequest& request)
{
    CalibrationSettings cut = request.recipe.calibration;
    if (!request.settings.comparisonData.empty())
        cut.batches = 0;
    return cut;
}

} // namespace

Result<Key> StageChain::comparisonKey(const CompareRequest& request)
{
    const Calibration& calibration = *request.calibration;
    QS_TRY(const Key content,
           m_hashes.of(request.settings.compared(), calibration.prepared->model->info().sha256));
    const CalibrationSettings cut = comparedCut(request);
    return KeyBuilder("comparison")
        .add(conversionKey(calibration, request.recipe))
        .add(batchesKey(content, cut, cut.batches))
        .add(calibration.device)
        .add(std::int64_t(at::get_num_threads()))
        .key();
}

Result<ComparisonPtr> StageChain::compare(const CompareRequest& request, const JobContext& job)
{
    if (request.converted->prepared != request.calibration->prepared)
        return fail(ErrorCode::Internal, "a conversion is compared under another calibration");
    QS_TRY(const Key key, comparisonKey(request));
    if (auto kept = m_memo.find<Comparison>(key))
        return kept;
    QS_TRY(const auto opened,
           data(*request.converted->prepared->model, request.settings.compared(),
                comparedCut(request)));
    QS_TRY(ComparisonPtr comparison,
           compareModels(*request.converted, *opened, request.calibration->device, job));
    m_memo.keep<Comparison>(key, comparison, bytesOf(*comparison));
    return comparison;
}

Recalled StageChain::recall(const CalibrateRequest& request, const JobContext& job)
{
    Recalled out;
    const std::string& sha256 = request.model->info().sha256;
    if (countUntyped(*request.model) > 0
        || !m_hashes.known(request.settings.calibrationData, sha256))
        return out;
    const auto run = prepareRun(request, job);
    if (!run)
        return out;
    out.calibration = assemble(*run);
    if (!out.calibration)
        return out;
    out.converted = m_memo.find<ConvertedModel>(conversionKey(*out.calibration, request.recipe));
    if (!out.converted || !m_hashes.known(request.settings.compared(), sha256))
        return out;
    if (out.converted->prepared != out.calibration->prepared)
        return {out.calibration, nullptr, nullptr};
    const auto key
        = comparisonKey({out.calibration, out.converted, request.recipe, request.settings});
    if (key)
        out.comparison = m_memo.find<Comparison>(*key);
    return out;
}

} // namespace qs

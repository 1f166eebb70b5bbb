// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model/model_run.h"

#include "app/commands/options/compared_options.h"
#include "app/commands/ranks.h"
#include "app/commands/stopwatch.h"
#include "engine/base/log.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/device_choice.h"
#include "engine/convert/form_edits.h"
#include "engine/convert/form_parts.h"
#include "engine/graph/operators/state.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/memory_prediction.h"
#include "engine/plan/block/hybrid.h"
#include "engine/plan/block/prepare_lists.h"

#include <cmath>
#include <filesystem>

namespace qs {

namespace {

/// Notes, for a model that keeps state, from which state each call starts.
void noteState(const Graph& model, bool isSequence)
{
    const std::vector<StateUpdate> updates = stateUpdates(model);
    if (updates.empty())
        return;
    const std::string first = inQuotes(model.get(updates.front().holder).target);
    note("the model keeps state from call to call (" + first
         + (updates.size() > 1 ? " and " + std::to_string(updates.size() - 1) + " more" : "")
         + "): "
         + (isSequence
                ? "each call continues from the state of the previous call (\"sequence\": true)"
                : "each call of the data starts from the saved state; where calls follow "
                  "each other set \"sequence\": true under \"calibration\" in the recipe"));
}

} // namespace

Result<void> checkStrict(const PlannedModel& planned, const EditedModel& edited)
{
    auto findings = strictFindings(*planned.model, *planned.plan);
    for (std::string& line : unfitEdits(edited, planned.recipe.edits))
        findings.push_back(std::move(line));
    if (findings.empty())
        return {};
    std::string text;
    for (const std::string& finding : findings)
        text += (text.empty() ? "" : "; ") + finding;
    return fail(
        makeError(ErrorCode::BadInput,
                  "--strict: " + counted(std::int64_t(findings.size()), "finding") + ": " + text)
            .inFile(planned.model->info().path));
}

ModelRun::ModelRun(const ModelRunOptions& options, const CommandRun& job)
    : m_options(options)
    , m_job(job)
{
    m_chain.setGroup(job.group());
}

Result<void> ModelRun::locate()
{
    QS_TRY(
        m_source,
        modelSource(m_options.model, m_options.recipe, m_options.movedTo, m_job, m_options.edits));
    m_settings = m_source.settings.withData(m_options.data, m_options.compareOn);
    m_settings.device = m_options.device;
    if (!m_options.against.empty())
        m_settings.againstOriginal = m_options.against == kAgainstOriginal;
    if (!m_options.localTerms.empty())
        m_settings.allLocalTerms = m_options.localTerms == kAllLocalTerms;
    if (m_settings.calibrationData.empty())
        return fail(makeError(ErrorCode::Usage, "--data is required")
                        .withHint("only a project names data"));
    return {};
}

/// Opens the data before planning: they determine dtypes that the file does not record.
Result<void> ModelRun::plan()
{
    Recipe& recipe = m_source.recipe;
    QS_TRY(m_edited, openEdited(m_chain, m_source.model, recipe, m_job, &m_times));
    GraphPtr model = m_edited->graph;
    QS_CHECK(checkFloat(*model));
    m_dataState = DataState::of(m_settings);
    QS_CHECK(m_chain.data(*model, m_settings.calibrationData, recipe.calibration));
    QS_CHECK(comparedData(*model, recipe));
    QS_TRY(model, m_chain.typed(std::move(model), recipe, m_settings, m_job));
    QS_TRY(recipe, withHybrid(std::move(recipe), m_options.hybrid, *model));
    QS_TRY(m_planned,
           planModel(m_chain, std::move(model), std::move(recipe), m_source.file, m_job, &m_times,
                     m_options.trains));
    QS_CHECK(checkCoverage(*m_planned.model, *m_planned.plan));
    noteState(*m_planned.model, m_planned.recipe.calibration.isSequence);
    keepToMemoryLimit();
    const MemoryPrediction memory
        = predictMemory(*m_planned.model, *m_planned.plan, m_planned.recipe.calibration.batchSize);
    m_job.report("plan", memory.text(), 0);
    QS_CHECK(checkRanks(m_job, [this] {
        const auto device
            = chooseDevice(m_settings.device, *m_planned.model, m_job.group()->localRank());
        const bool isCpu = !device || device->device == "cpu";
        const std::string decisions = recipeToJson(m_planned.recipe);
        return RunIdentity {{"models", m_planned.model->info().sha256},
                            {"kinds of devices", isCpu ? "cpu" : "cuda"},
                            {"decisions", KeyBuilder("recipe").add(decisions).key()},
                            {"calibration data", contentMark(m_settings.calibrationData)},
                            {"comparison data", contentMark(m_settings.comparisonData)}};
    }));
    return m_options.strict ? checkStrict(m_planned, *m_edited) : Result<void>();
}

void ModelRun::keepToMemoryLimit()
{
    const GraphPtr& model = m_planned.model;
    CalibrationSettings& cut = m_planned.recipe.calibration;
    const CalibrationSettings smaller = withinMemoryLimit(*model, *m_planned.plan, cut);
    if (smaller.batchSize == cut.batchSize)
        return;
    // Not all data can be split so: a list of calls, or a model that needs at least two samples.
    // Then the recipe's batch size stays, and calibrating fails with the figures.
    if (!m_chain.inSmallBatches(*model, m_settings.calibrationData, smaller))
        return;
    note(smallerBatchesNote(smaller.batchSize, cut.batchSize,
                            "a run needs "
                                + predictMemory(*model, *m_planned.plan, cut.batchSize).text()));
    cut = smaller;
}

Result<void> ModelRun::calibrate()
{
    const Stopwatch calibrating(&m_times, "calibrate");
    QS_TRY(
        m_calibration,
        m_chain.calibrate({m_planned.model, m_planned.plan, m_planned.recipe, m_settings}, m_job));
    calibrating.stop();
    m_planned.model = m_calibration->prepared->model; // the data may refine its types
    m_planned.plan = m_calibration->prepared->plan;
    if (!m_calibration->note.empty())
        note(m_calibration->note);
    QS_CHECK(takeNotFinite());
    return {};
}

Result<void> ModelRun::takeNotFinite()
{
    if (m_calibration->notFinite.empty())
        return {};
    m_planned.recipe = withNotFinite(std::move(m_planned.recipe), m_calibration->notFinite);
    for (const PlanFinding& finding : notFiniteFindings(*m_calibration)) {
        if (m_options.strict)
            return fail(makeError(ErrorCode::Numeric, "--strict: " + finding.text)
                            .inFile(m_planned.model->info().path)
                            .atNode(m_planned.model->get(finding.node).name));
        warn(finding.text);
    }
    return {};
}

Result<void> ModelRun::convert()
{
    const Stopwatch converting(&m_times, "convert");
    m_job.report("convert", "choosing scales, lowering, checking kernels", 0);
    QS_TRY(m_converted, m_chain.convert({m_calibration, m_planned.recipe, m_settings}, m_job));
    converting.stop();
    warnOfFormEdits(*m_converted, m_planned.recipe, m_planned.model->info().path);
    if (const auto unfit = unfitFormEdits(*m_converted, m_planned.recipe);
        m_options.strict && !unfit.empty())
        return fail(makeError(ErrorCode::BadInput, "--strict: " + unfit.front())
                        .inFile(m_planned.model->info().path));
    return {};
}

Result<void> ModelRun::convertAndCompare()
{
    QS_CHECK(convert());
    const Stopwatch comparing(&m_times, "compare");
    QS_TRY(m_comparison, m_chain.compare(compareRequest(), m_job));
    comparing.stop();
    if (const DataState now = DataState::of(m_settings); now != m_dataState)
        return fail(makeError(ErrorCode::BadInput,
                              "was changed during the run, which read it more than once")
                        .inFile(now.calibration != m_dataState.calibration
                                    ? m_settings.calibrationData
                                    : m_settings.comparisonData)
                        .withHint("run it again"));
    if (m_options.strict && !m_comparison->losses.empty())
        return fail(makeError(ErrorCode::Numeric, "--strict: " + m_comparison->losses.front())
                        .inFile(m_planned.model->info().path));
    return {};
}

Result<void> ModelRun::why()
{
    const Stopwatch finding(&m_times, "why");
    QS_TRY(m_diagnosis, m_chain.why(compareRequest(), {}, m_job));
    finding.stop();
    return {};
}

Result<void> ModelRun::evaluate()
{
    if (m_options.eval.empty())
        return {};
    const Stopwatch evaluating(&m_times, "eval");
    QS_TRY(m_evaluation, m_chain.evaluate(compareRequest(), commandMetric(m_options.eval), m_job));
    evaluating.stop();
    return {};
}

Result<std::shared_ptr<const Dataset>> ModelRun::comparedData(const Graph& model,
                                                              const Recipe& recipe)
{
    return m_chain.data(model, m_settings.compared(), comparedCut(m_settings, recipe.calibration));
}

std::map<std::string, double> ModelRun::timingSeconds() const
{
    std::map<std::string, double> seconds = m_times.seconds();
    if (m_calibration) {
        seconds["prepare"] = m_calibration->prepareSeconds;
        seconds["calibrate"] = m_calibration->seconds;
    }
    return seconds;
}

Result<double> ModelRun::timedSamples()
{
    QS_TRY(const auto data, comparedData(*m_planned.model, m_planned.recipe));
    QS_TRY(const Batch first, data->batch(0));
    const std::int64_t others = data->batchCount() - 1;
    return others < 1 ? double(first.samples)
                      : double(m_comparison->samples - first.samples) / double(others);
}

ExportRequest ModelRun::exportRequest(const std::string& folder) const
{
    ExportRequest request;
    request.calibration = m_calibration;
    request.converted = m_converted;
    request.comparison = m_comparison;
    request.diagnosis = m_diagnosis;
    request.recipe = m_planned.recipe;
    request.settings = m_settings;
    request.folder = folder;
    request.timingSeconds = timingSeconds();
    request.evaluation = m_evaluation;
    request.ranks = m_job.group()->size();
    return request;
}

ResultParts ModelRun::parts() const
{
    ResultParts parts;
    parts.model = m_planned.model.get();
    parts.plan = m_planned.plan.get();
    parts.recipe = &m_planned.recipe;
    parts.converted = m_converted.get();
    parts.comparison = m_comparison.get();
    parts.observations = m_calibration->observations.get();
    parts.device = m_calibration->device;
    parts.threads = m_calibration->observations->threads;
    parts.ranks = m_job.group()->size();
    parts.timingSeconds = timingSeconds();
    parts.evaluation = m_evaluation;
    parts.calibrationData = m_settings.calibrationData;
    parts.comparisonData = m_settings.comparisonData;
    return parts;
}

} // namespace qs

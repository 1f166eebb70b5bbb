// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/stage_chain.h"

#include "engine/base/files/file_hash.h"
#include "engine/base/sha256.h"
#include "engine/blame/why_json.h"
#include "engine/configure/backend/settings.h"
#include "engine/convert/outline.h"
#include "engine/execute/fill_shapes.h"
#include "engine/execute/value_preview.h"
#include "engine/export/documents/result_writer.h"
#include "engine/import/importer.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/keys/decision_keys.h"
#include "engine/pipeline/train/train_model.h"
#include "engine/pipeline/tune/tune.h"
#include "engine/verify/certify.h"
#include "engine/verify/python_run.h"

#include <ATen/Parallel.h>

#include <filesystem>

namespace qs {

namespace {

/// Stores the Python that the user named. Ignores errors: the user then names it again next time.
void rememberPython(const std::string& asked)
{
    auto settings = readSettings();
    std::error_code code;
    const std::string path = std::filesystem::absolute(asked, code).string();
    if (!settings || asked.find('/') == std::string::npos || settings->python == path)
        return;
    settings->python = path;
    (void)writeSettings(*settings);
}

} // namespace

std::unique_ptr<EngineService> makeEngine(std::string checkpointFolder, std::size_t valueBytes)
{
    return std::make_unique<StageChain>(
        StageChain::Options {.checkpointFolder = std::move(checkpointFolder),
                             .valueBytes = valueBytes / 3 * 2,
                             .previewBytes = valueBytes / 3});
}

StageChain::StageChain()
    : StageChain(Options())
{
}

void StageChain::expectOpening(const std::string& path)
{
    m_earlyHash.start(path);
}

Result<GraphPtr> StageChain::open(const std::string& path, const JobContext& job)
{
    return importModel(path, job, [this](const std::string& file, const JobContext& part) {
        return m_earlyHash.of(file, part);
    });
}

Result<ConvertedPtr> StageChain::outline(const GraphPtr& model, const PlanPtr& plan,
                                         const Recipe& recipe, const JobContext& job)
{
    return outlineConversion(model, plan, recipe, job);
}

Result<TuneState> StageChain::tune(const TuneRequest& request, const KnownTrials& known,
                                   const SeeTune& see, const JobContext& job)
{
    return qs::tune(*this, request, known, see, job);
}

Result<Certificate> StageChain::verify(const VerifyStageRequest& request, const JobContext& job)
{
    namespace fs = std::filesystem;
    const StoredRun& stored = request.stored;
    if (stored.exports.empty())
        return fail(makeError(ErrorCode::BadInput, "the result has no exports")
                        .inFile((fs::path(stored.folder) / "result.json").string())
                        .withHint("quantize with --export"));
    const Graph& model = *request.converted->prepared->model;
    QS_TRY(const auto opened, data(model, request.data, stored.recipe.calibration));
    QS_TRY(std::string recipe, fileSha256((fs::path(stored.folder) / "recipe.json").string(), job));
    QS_TRY(std::string content, m_hashes.of(request.data, model.info().sha256, job));
    QS_TRY(const std::string python, pythonFor(request.python));
    QS_TRY(Certificate certificate,
           certify({{*request.converted, *opened, stored.folder, stored.exports,
                     stored.exportHashes, stored.saturatingFiles, std::move(recipe), python,
                     request.runtimes, request.speed},
                    model.info().sha256,
                    request.data,
                    std::move(content)},
                   job));
    if (!request.python.empty() && certificate.ran())
        rememberPython(request.python);
    return certificate;
}

Result<SavedTraining> StageChain::train(const TrainRequest& request, const std::string& path,
                                        const SeeTraining& see, const JobContext& job)
{
    QS_TRY(Training training, trainModel(*this, request, see, job));
    const bool isDiscarded = request.isDiscarded && *request.isDiscarded;
    if (job.cancelled() && (!request.savesOnCancel || isDiscarded))
        return fail(ErrorCode::Cancelled, "the training was stopped");
    // A cancel ended the training; what it reached is saved nevertheless.
    const JobContext saving = job.cancelled() ? JobContext() : JobContext(job);
    QS_CHECK(saveModel(training.model, request.recipe, request.settings, path, saving));
    Cure cure;
    cure.kind = CureKind::Train;
    cure.file = path;
    cure.by = "train";
    QS_TRY(cure.sha256, fileSha256(path));
    return SavedTraining {std::move(training), std::move(cure)};
}

Result<TrainingForecast> StageChain::forecast(const TrainRequest& request, const JobContext& job)
{
    return forecastTraining(*this, request, job);
}

Result<ValuePreview> StageChain::storedValue(const GraphPtr& model, NodeId node,
                                             const JobContext& job)
{
    return previewValue(*model, node, job);
}

Result<std::map<std::string, WeightRanges>>
StageChain::uncuredWeights(const GraphPtr& file, const Recipe& recipe, const JobContext& job)
{
    return qs::uncuredWeights(*this, file, recipe, job);
}

Result<ScalarTextsPtr> StageChain::scalars(const GraphPtr& model, const JobContext& job)
{
    QS_TRY(ScalarTexts texts, scalarTexts(*model, job));
    return std::make_shared<const ScalarTexts>(std::move(texts));
}

Result<std::vector<Alternative>> StageChain::alternatives(const CalibrationPtr& calibration,
                                                          ObserverId observer,
                                                          const JobContext& job)
{
    return alternativesOf(*calibration->prepared, *calibration->observations, observer, job);
}

Result<std::string> StageChain::adopt(const CalibrateRequest& request, const StoredRun& stored,
                                      const JobContext& job)
{
    const std::string& sha256 = request.model->info().sha256;
    if (stored.modelSha256 != sha256)
        return "they are of another model file";
    if (planningKey(stored.recipe) != planningKey(request.recipe)
        || cutKey(stored.recipe.calibration) != cutKey(request.recipe.calibration))
        return "they are of other decisions";
    QS_TRY(const Key content, m_hashes.of(request.settings.calibrationData, sha256, job));
    if (content != stored.dataSha256)
        return "the calibration data were changed since";
    QS_TRY(auto corrected, correctedShapesOf(*request.model, stored.document));
    if (!corrected.empty()) {
        const std::lock_guard lock(m_shapesMutex);
        m_notedShapes.insert(sha256); // the run that found them wrote the note
        m_corrected.insert_or_assign(modelKey(*request.model), std::move(corrected));
    }
    QS_TRY(const Run run, prepareRun(request, job));
    if (run.device.device != stored.device || at::get_num_threads() != stored.threads)
        return "they were made on " + stored.device + " with " + std::to_string(stored.threads)
            + " threads";
    const Plan& plan = *run.prepared->plan;
    const auto path = (std::filesystem::path(stored.folder) / "observations.npz").string();
    QS_TRY(StoredObservations seen, readObservations(path, plan.observers));
    QS_TRY(const StoredQuantization numbers,
           quantizationFromResult(stored.document, *run.prepared->model, plan));
    seen.observations.device = stored.device;
    keepStatistics(run, seen.observations);
    const CalibrationPtr calibration = assemble(run, &seen.observations);
    for (const auto& [id, params] : numbers.qparams)
        if (const auto it = calibration->qparams.find(id);
            it == calibration->qparams.end() || it->second.scale != params.scale)
            return "their scales do not follow from their statistics";
    if (formsKey(stored.recipe) != formsKey(request.recipe))
        return "they are of other decisions";
    QS_TRY(const Key compared, m_hashes.of(request.settings.compared(), sha256, job));
    if (compared != stored.comparedSha256)
        return "the comparison's data were changed since";
    QS_TRY(const ComparisonPtr comparison,
           comparisonFromResult(stored.document, *run.prepared->model));
    if (comparison->nodes.empty()
        || stored.againstOriginal != measuresOriginal(request.settings, *request.model)
        || stored.allLocalTerms != request.settings.allLocalTerms)
        return std::string();
    QS_TRY(const Key key,
           comparisonKey({calibration, nullptr, request.recipe, request.settings}, job));
    m_memo.keep<Comparison>(key, comparison, comparison->nodes.size() * sizeof(NodeError));
    adoptDiagnosis(stored, *run.prepared, key);
    return std::string();
}

Recalled StageChain::recall(const CalibrateRequest& request, const JobContext& job)
{
    Recalled out;
    const std::string& sha256 = request.model->info().sha256;
    if (countUntyped(*request.model) > 0
        || !m_hashes.known(request.settings.calibrationData, sha256))
        return out;
    const auto model = typed(request.model, request.recipe, request.settings, job);
    if (!model || *model != request.model) // the cached results belong to another graph
        return out;
    const auto run = prepareRun(request, job);
    if (!run)
        return out;
    out.calibration = assemble(*run);
    if (!out.calibration)
        return out;
    out.converted = m_memo.find<ConvertedModel>(conversionKey(*out.calibration, request.recipe));
    if (out.converted && out.converted->prepared != out.calibration->prepared)
        return {out.calibration, nullptr, nullptr, nullptr};
    if (!m_hashes.known(request.settings.compared(), sha256))
        return out;
    const auto key
        = comparisonKey({out.calibration, out.converted, request.recipe, request.settings}, job);
    if (!key)
        return out;
    out.comparison = m_memo.find<Comparison>(*key);
    out.diagnosis = m_memo.find<Diagnosis>(diagnosisKey(*key, {}, hasDotProduct()));
    return out;
}

} // namespace qs

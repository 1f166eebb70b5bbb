// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model/restored_result.h"

#include "app/commands/options/outside_option.h"
#include "app/commands/stopwatch.h"
#include "engine/base/log.h"
#include "engine/base/sha256.h"
#include "engine/blame/why_json.h"
#include "engine/configure/json/json_reader.h"
#include "engine/convert/convert.h"
#include "engine/convert/form_edits.h"
#include "engine/export/documents/result_document.h"
#include "engine/export/documents/stored_run.h"
#include "engine/extensions/load_pack.h"
#include "engine/prepare/prepare.h"

#include <filesystem>

namespace qs {

namespace {

/// The result document and the recipe beside it.
struct StoredResult
{
    std::string resultPath, recipePath, document;
};

Result<StoredResult> openResult(const std::string& given)
{
    namespace fs = std::filesystem;
    StoredResult stored;
    std::error_code code;
    const fs::path path(given);
    const fs::path file = fs::is_directory(path, code) ? path / "result.json" : path;
    stored.resultPath = file.string();
    stored.recipePath = (file.parent_path() / "recipe.json").string();
    auto text = readTextFile(stored.resultPath);
    if (!text && text.error().code == ErrorCode::NotFound)
        return fail(makeError(ErrorCode::NotFound, "there is no such result")
                        .inFile(stored.resultPath)
                        .withHint("make one with 'quantscope quantize'"));
    QS_CHECK(text);
    stored.document = std::move(*text);
    return stored;
}

/// The model that the result was made from, with the shapes that its data corrected.
Result<GraphPtr> modelOf(const StoredResult& stored, const EditedModel& edited)
{
    if (auto same = checkResultIsOf(*edited.graph, stored.document); !same)
        return fail(std::move(same).error().inFile(stored.resultPath));
    const auto corrected = correctedShapesOf(*edited.graph, stored.document);
    if (!corrected)
        return fail(Error(corrected.error()).inFile(stored.resultPath));
    return withCorrectedShapes(edited.graph, *corrected);
}

/// Warns of files that changed since the result was made.
void warnOfChanges(const StoredResult& stored, const StoredQuantization& was,
                   const std::string& recipeSha256, const CommandRun& job)
{
    const auto changed = [](const std::string& then, const std::string& now) {
        return !then.empty() && then != now;
    };
    if (changed(was.recipeSha256, recipeSha256))
        warn(stored.recipePath + " was changed since " + stored.resultPath
             + " was made: its scales are used, with the changed recipe's plan");
    if (!was.backendSha256.empty()) {
        const auto backend
            = std::filesystem::path(stored.recipePath).parent_path() / "backend.json";
        if (changed(was.backendSha256, fileSha256(backend.string()).value_or("")))
            warn(backend.string() + " was changed since " + stored.resultPath
                 + " was made: its scales are used, with the changed backend's plan");
    }
    ContentHashes hashes;
    const std::string& data = was.calibrationData;
    if (data.empty() || data == "sample")
        return;
    if (const auto now = hashes.of(data, {}, job); now && changed(was.dataSha256, *now))
        warn(data + " was changed since " + stored.resultPath
             + " was calibrated on it: the scales are those of the data before");
}

} // namespace

Result<RestoredResult> restoreResult(StageChain& chain, const std::string& result,
                                     const std::string& modelPath, const RunSettings& settings,
                                     const CommandRun& job, std::map<std::string, double>* timing)
{
    RestoredResult restored;
    restored.settings = settings;
    QS_TRY(const StoredResult stored, openResult(result));
    restored.recipePath = stored.recipePath;
    QS_TRY(Recipe recipe, readRecipe(stored.recipePath));
    QS_CHECK(checkOutside(stored.recipePath, pathsOutside(recipe, stored.recipePath), job));
    QS_TRY(const ModelSource source, modelSource(modelPath, {}, {}, job));
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, recipe, job, timing));
    restored.edited = edited;
    QS_TRY(GraphPtr model, modelOf(stored, *edited));
    recipe.calibration.batches = 0;
    QS_CHECK(chain.data(*model, settings.calibrationData, recipe.calibration));
    QS_TRY(model, chain.typed(std::move(model), recipe, settings, job));
    QS_TRY(restored.planned,
           planModel(chain, std::move(model), std::move(recipe), stored.recipePath, job, timing));
    const PlannedModel& planned = restored.planned;
    auto was = quantizationFromResult(stored.document, *planned.model, *planned.plan);
    if (!was)
        return fail(std::move(was).error().inFile(stored.resultPath));
    QS_TRY(restored.recipeSha256, fileSha256(stored.recipePath));
    warnOfChanges(stored, *was, restored.recipeSha256, job);
    QS_TRY(restored.calibration,
           chain.restore({planned.model, planned.plan, planned.recipe, settings},
                         std::move(was->qparams), std::move(was->observations),
                         KeyBuilder("document").add(stored.document).key(), job));
    restored.was = std::move(*was);
    if (!restored.calibration->note.empty())
        note(restored.calibration->note);
    if (timing)
        (*timing)["prepare"] = restored.calibration->prepareSeconds;
    const Stopwatch converting(timing, "convert");
    job.report("convert", "rebuilding the converted graph", 0);
    // Decisions that were changed since are lowered anew.
    auto refused = restored.was.recipeSha256 == restored.recipeSha256
        ? restored.was.refused
        : std::optional<std::vector<RefusedKernel>>();
    QS_TRY(
        restored.converted,
        chain.convert({restored.calibration, planned.recipe, settings, std::move(refused)}, job));
    warnOfFormEdits(*restored.converted, planned.recipe, planned.model->info().path);
    return restored;
}

Result<GraphPtr> floatModelOfResult(const std::string& result, const EditedModel& edited)
{
    QS_TRY(const StoredResult stored, openResult(result));
    return checkResultIsOf(*edited.graph, stored.document) ? modelOf(stored, edited)
                                                           : Result<GraphPtr>(edited.graph);
}

Result<ModelSource> sourceOfResult(const std::string& result, const std::string& movedTo,
                                   const CommandRun& job)
{
    QS_TRY(const StoredResult stored, openResult(result));
    QS_TRY(StoredRun run, readStoredRun(result, job));
    QS_CHECK(checkOutside(stored.recipePath, pathsOutside(run.recipe, stored.recipePath), job));
    ModelSource source;
    source.model = movedTo.empty() ? run.modelPath : movedTo;
    source.recipe = withLoadedPacks(std::move(run.recipe));
    source.file = stored.recipePath;
    return source;
}

Result<StoredWhy> whyOfResult(StageChain& chain, const std::string& result,
                              const ModelSource& source, const CommandRun& job)
{
    QS_TRY(const StoredResult stored, openResult(result));
    StoredWhy why;
    QS_TRY(why.run, readStoredRun(result, job));
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, source.recipe, job));
    QS_TRY(why.model, modelOf(stored, *edited));
    QS_TRY(const PlannedModel planned,
           planWith(chain, why.model, source.recipe, stored.recipePath, job));
    why.plan = planned.plan;
    auto told = diagnosisFromResult(stored.document, *why.model, *why.plan);
    if (!told)
        return fail(std::move(told).error().inFile(stored.resultPath));
    why.diagnosis = std::move(*told);
    const auto document = ResultDocument::parse(stored.document, nullptr, false);
    const std::string then = fieldText(document, "recipe_sha256");
    why.isOfRecipe = then.empty() || then == fileSha256(stored.recipePath).value_or("");
    return why;
}

Result<ConvertedPtr> convertedOfResult(StageChain& chain, const std::string& result,
                                       const ModelSource& source, const CommandRun& job)
{
    QS_TRY(const StoredResult stored, openResult(result));
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, source.recipe, job));
    QS_TRY(GraphPtr model, modelOf(stored, *edited));
    QS_TRY(const PlannedModel planned,
           planWith(chain, std::move(model), source.recipe, stored.recipePath, job));
    auto was = quantizationFromResult(stored.document, *planned.model, *planned.plan);
    if (!was)
        return fail(std::move(was).error().inFile(stored.resultPath));
    QS_TRY(PreparedPtr prepared, prepareModel(planned.model, planned.plan, job));
    const std::vector<RefusedKernel> refused = was->refused.value_or(std::vector<RefusedKernel>());
    QS_TRY(const ConvertedPtr converted,
           convertModel(std::move(prepared), std::move(was->qparams), planned.recipe, nullptr, job,
                        &refused));
    return withFormEdits(converted, planned.recipe, job);
}

} // namespace qs

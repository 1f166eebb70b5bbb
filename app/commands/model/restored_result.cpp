// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model/restored_result.h"

#include "app/commands/options/outside_option.h"
#include "app/commands/stopwatch.h"
#include "engine/base/json/json_reader.h"
#include "engine/base/log.h"
#include "engine/base/sha256.h"
#include "engine/blame/why_json.h"
#include "engine/convert/convert.h"
#include "engine/convert/form_edits.h"
#include "engine/edit/edit_functions.h"
#include "engine/extensions/load_pack.h"
#include "engine/prepare/prepare.h"
#include "engine/result/stored_run.h"

#include <filesystem>

namespace qs {

namespace {

/// Returns the path of the recipe beside a result.
std::string recipeBeside(const ResultDocument& document)
{
    return (std::filesystem::path(document.path()).parent_path() / "recipe.json").string();
}

/// Returns the model of the result, with the shapes that its data corrected.
Result<GraphPtr> modelOf(const ResultDocument& document, const EditedModel& edited)
{
    QS_CHECK(checkResultIsOf(*edited.graph, document));
    QS_TRY(const auto corrected, correctedShapesOf(*edited.graph, document));
    return withCorrectedShapes(edited.graph, corrected);
}

/// Reads the quantization parameters in a result for the model and the plan.
Result<StoredQuantization> quantizationOf(const ResultDocument& document,
                                          const PlannedModel& planned)
{
    auto was = quantizationFromResult(document, *planned.model, *planned.plan);
    return was ? std::move(was) : fail(std::move(was).error().inFile(document.path()));
}

/// Warns of files that changed since the result was made.
void warnOfChanges(const ResultDocument& document, const StoredQuantization& was,
                   const std::string& recipeSha256, const CommandRun& job)
{
    const auto changed = [](const std::string& then, const std::string& now) {
        return !then.empty() && then != now;
    };
    if (changed(was.recipeSha256, recipeSha256))
        warn(recipeBeside(document) + " was changed since " + document.path()
             + " was made: its scales are used, with the changed recipe's plan");
    if (!was.backendSha256.empty()) {
        const auto backend = std::filesystem::path(document.path()).parent_path() / "backend.json";
        if (changed(was.backendSha256, fileSha256(backend.string()).value_or("")))
            warn(backend.string() + " was changed since " + document.path()
                 + " was made: its scales are used, with the changed backend's plan");
    }
    ContentHashes hashes;
    const std::string& data = was.calibrationData;
    if (data.empty() || data == "sample")
        return;
    if (const auto now = hashes.of(data, {}, job); now && changed(was.dataSha256, *now))
        warn(data + " was changed since " + document.path()
             + " was calibrated on it: the scales are those of the data before");
}

} // namespace

Result<RestoredResult> restoreResult(StageChain& chain, const RestoreRequest& request,
                                     const CommandRun& job, StageTimes* timing)
{
    const RunSettings& settings = request.settings;
    RestoredResult restored;
    restored.settings = settings;
    QS_TRY(const ResultDocument document, ResultDocument::read(request.result, job));
    restored.recipePath = recipeBeside(document);
    QS_TRY(Recipe recipe, readRecipe(restored.recipePath));
    QS_CHECK(checkOutside(restored.recipePath, pathsOutside(recipe, restored.recipePath), job));
    QS_TRY(const ModelSource source, modelSource(request.model, {}, {}, job));
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, recipe, job, timing));
    restored.edited = edited;
    for (const CureOutcome& outcome : edited->cures)
        if (outcome.cure.kind == CureKind::Train && !outcome.problem.empty())
            return fail(makeError(ErrorCode::BadInput,
                                  "the result's training cannot be read: " + outcome.problem)
                            .inFile(restored.recipePath)
                            .withHint("quantize again"));
    for (const Cure& cure : recipe.cures)
        if (!cure.file.empty() && !cure.off && cure.kind != CureKind::Train)
            QS_CHECK(checkRecorded(cure.file, cure.sha256, "cure", "quantize again"));
    QS_TRY(GraphPtr model, modelOf(document, *edited));
    recipe.calibration.batches = 0;
    QS_CHECK(chain.data(*model, settings.calibrationData, recipe.calibration));
    QS_TRY(model, chain.typed(std::move(model), recipe, settings, job));
    QS_TRY(restored.planned,
           planModel(chain, std::move(model), std::move(recipe), restored.recipePath, job, timing,
                     request.trains));
    const PlannedModel& planned = restored.planned;
    QS_TRY(StoredQuantization was, quantizationOf(document, planned));
    QS_TRY(restored.recipeSha256, fileSha256(restored.recipePath));
    warnOfChanges(document, was, restored.recipeSha256, job);
    QS_TRY(restored.calibration,
           chain.restore({planned.model, planned.plan, planned.recipe, settings},
                         std::move(was.qparams), std::move(was.observations),
                         KeyBuilder("document").add(document.json().dump()).key(), job));
    restored.was = std::move(was);
    if (!restored.calibration->note.empty())
        note(restored.calibration->note);
    const Stopwatch converting(timing, "convert");
    job.report("convert", "rebuilding the converted graph", 0);
    // If decisions changed since, lowering checks all kernels again.
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
    QS_TRY(const ResultDocument document, ResultDocument::read(result));
    return checkResultIsOf(*edited.graph, document) ? modelOf(document, edited)
                                                    : Result<GraphPtr>(edited.graph);
}

Result<ModelSource> sourceOfResult(const std::string& result, const std::string& movedTo,
                                   const CommandRun& job)
{
    QS_TRY(StoredRun run, readStoredRun(result, job));
    ModelSource source;
    source.file = recipeBeside(run.document);
    QS_CHECK(checkOutside(source.file, pathsOutside(run.recipe, source.file), job));
    source.model = movedTo.empty() ? run.modelPath : movedTo;
    source.recipe = withLoadedPacks(std::move(run.recipe));
    return source;
}

Result<StoredWhy> whyOfResult(StageChain& chain, const std::string& result,
                              const ModelSource& source, const CommandRun& job)
{
    StoredWhy why;
    QS_TRY(why.run, readStoredRun(result, job));
    const ResultDocument& document = why.run.document;
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, source.recipe, job));
    QS_TRY(why.model, modelOf(document, *edited));
    QS_TRY(const PlannedModel planned,
           planWith(chain, why.model, source.recipe, recipeBeside(document), job));
    why.plan = planned.plan;
    auto told = diagnosisFromResult(document, *why.model, *why.plan);
    if (!told)
        return fail(std::move(told).error().inFile(document.path()));
    why.diagnosis = std::move(*told);
    const std::string& then = why.run.recipeSha256;
    why.isOfRecipe = then.empty() || then == fileSha256(recipeBeside(document)).value_or("");
    return why;
}

Result<ConvertedPtr> convertedOfResult(StageChain& chain, const std::string& result,
                                       const ModelSource& source, const CommandRun& job)
{
    QS_TRY(const ResultDocument document, ResultDocument::read(result, job));
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, source.recipe, job));
    QS_TRY(GraphPtr model, modelOf(document, *edited));
    QS_TRY(const PlannedModel planned,
           planWith(chain, std::move(model), source.recipe, recipeBeside(document), job));
    QS_TRY(StoredQuantization was, quantizationOf(document, planned));
    QS_TRY(PreparedPtr prepared, prepareModel(planned.model, planned.plan, job));
    const std::vector<RefusedKernel> refused = was.refused.value_or(std::vector<RefusedKernel>());
    QS_TRY(const ConvertedPtr converted,
           convertModel(std::move(prepared), std::move(was.qparams), planned.recipe,
                        {.refused = &refused}, job));
    return withFormEdits(converted, planned.recipe, job);
}

} // namespace qs

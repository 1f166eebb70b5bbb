// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/model/planned_model.h"
#include "engine/export/documents/result_writer.h"

#include <string>

namespace qs {

/// A converted model made anew from the model, and the recipe and parameters in a result folder.
struct RestoredResult
{
    std::string recipePath, recipeSha256;
    EditedModelPtr edited; ///< the model before and after its edits
    PlannedModel planned;
    StoredQuantization was;
    CalibrationPtr calibration;
    ConvertedPtr converted;
    RunSettings settings;
};

/// `result`: the folder, or its result.json; `model`: a model or a project that names one. All of
/// the data is used, whatever the recipe calibrates on. Logs files that changed since. With
/// `timing`, adds the time of the stages but "prepare", which the calibration has. Errors: no such
/// result, another model's, one that does not fit.
Result<RestoredResult> restoreResult(StageChain& chain, const std::string& result,
                                     const std::string& model, const RunSettings& settings,
                                     const CommandRun& job, StageTimes* timing = nullptr);

/// The model and the recipe of a result folder or its result.json. `movedTo`: where its model is by
/// now, "" = where the result says. Errors: not a result; `movedTo` without one.
Result<ModelSource> sourceOfResult(const std::string& result, const std::string& movedTo,
                                   const CommandRun& job);

/// The causes of the outputs' noise in a result document.
struct StoredWhy
{
    GraphPtr model; ///< the float model, edited
    PlanPtr plan; ///< of the recipe in the folder
    DiagnosisPtr diagnosis; ///< null if the document has none
    StoredRun run;
    bool isOfRecipe = false; ///< recipe.json was not changed since
};
/// Runs no data. `source`: as `sourceOfResult` gives it. Errors: not a result, or of another model;
/// `makePlan`'s; a section that does not fit the model.
Result<StoredWhy> whyOfResult(StageChain& chain, const std::string& result,
                              const ModelSource& source, const CommandRun& job);

/// The float model of a result, as edited, with the shapes that its data corrected. A model that
/// was changed since is returned as it is. Errors: as `restoreResult`.
Result<GraphPtr> floatModelOfResult(const std::string& result, const EditedModel& edited);

/// The forms that the result was written from, made anew without data: the same operators are
/// lowered as then. Errors: as `restoreResult`.
Result<ConvertedPtr> convertedOfResult(StageChain& chain, const std::string& result,
                                       const ModelSource& source, const CommandRun& job);

} // namespace qs

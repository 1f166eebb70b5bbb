// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/model/planned_model.h"
#include "engine/export/documents/result_writer.h"

#include <string>

namespace qs {

/// A converted model, rebuilt from the model and the recipe and parameters in a result folder.
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

struct RestoreRequest
{
    std::string result; ///< the folder, or its result.json
    std::string model; ///< or a project that names one
    RunSettings settings;
    bool trains = false; ///< the model will be trained for its qconfigs
};

/// Rebuilds the converted model of a result. Uses all of the data, regardless of the recipe's
/// limits. Logs files that changed since. With `timing`, adds the times of the stages except
/// "prepare", which the calibration has. Errors: no such result, another model's, one that does not
/// fit.
Result<RestoredResult> restoreResult(StageChain& chain, const RestoreRequest& request,
                                     const CommandRun& job, StageTimes* timing = nullptr);

/// Returns the model and the recipe of a result folder or its result.json. `movedTo`: new path of
/// the model, "" = the path in the result. Errors: not a result; `movedTo` without a result.
Result<ModelSource> sourceOfResult(const std::string& result, const std::string& movedTo,
                                   const CommandRun& job);

/// The causes of the outputs' noise in a result document.
struct StoredWhy
{
    GraphPtr model; ///< the float model, edited
    PlanPtr plan; ///< of the recipe in the folder
    DiagnosisPtr diagnosis; ///< null if the document has none
    StoredRun run;
    bool isOfRecipe = false; ///< recipe.json is unchanged since
};
/// Reads the causes without running data. `source`: from `sourceOfResult`. Errors: not a result, or
/// of another model; `makePlan`'s; a section that does not fit the model.
Result<StoredWhy> whyOfResult(StageChain& chain, const std::string& result,
                              const ModelSource& source, const CommandRun& job);

/// Returns the edited float model of a result, with the shapes that its data corrected. A model
/// that changed since is returned unchanged. Errors: as `restoreResult`.
Result<GraphPtr> floatModelOfResult(const std::string& result, const EditedModel& edited);

/// Rebuilds the forms of a result without data; lowers the same operators. Errors: as
/// `restoreResult`.
Result<ConvertedPtr> convertedOfResult(StageChain& chain, const std::string& result,
                                       const ModelSource& source, const CommandRun& job);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/command_run.h"
#include "app/commands/options/edit_options.h"
#include "app/commands/stopwatch.h"
#include "engine/configure/recipe.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/plan/plan.h"

namespace CLI {
class App;
}

namespace qs {

/// A model with every decision made: the start of `plan`, `quantize` and `compare`.
struct PlannedModel
{
    GraphPtr model;
    Recipe recipe;
    PlanPtr plan;
};

/// The input of a verb: a model's file with a recipe, or those that a project names.
struct ModelSource
{
    std::string model; ///< path of the model's file
    Recipe recipe;
    std::string file; ///< that errors of planning are about: recipe or project, else the model
    RunSettings settings; ///< the project's; without one no data
};
/// `given`: a model, or a project, whose decisions count where `recipePath` is empty. A project's
/// model that was moved is looked for (`findModel`); `movedTo`: where it is by now, "" = not given.
/// `edits`: done beside the recipe's.
/// Errors: those of reading them; a model that is not found; `movedTo` without a project (Usage);
/// Cancelled.
Result<ModelSource> modelSource(const std::string& given, const std::string& recipePath,
                                const std::string& movedTo, const CommandRun& job,
                                const AskedEdits& edits = {});
/// `--model`: `movedTo` of `modelSource`.
void addMovedOption(CLI::App& verb, std::string& movedTo);
/// `--hybrid`: the names of `withHybrid`.
void addHybridOption(CLI::App& verb, std::vector<std::string>& names);

/// Opens the model. With `timing`, adds the time of "import".
Result<GraphPtr> openModel(const std::string& path, const CommandRun& job,
                           StageTimes* timing = nullptr);
/// Opens the model and does the recipe's edits; logs those that do not fit.
Result<EditedModelPtr> openEdited(StageChain& chain, const std::string& path, const Recipe& recipe,
                                  const CommandRun& job, StageTimes* timing = nullptr);
/// Logs the recipe's edits of converted forms that do not fit.
void warnOfFormEdits(const ConvertedModel& converted, const Recipe& recipe,
                     const std::string& path);
/// The recipe in that file, or the default one when the path is empty; the packs that the user
/// loaded are among those it needs.
Result<Recipe> recipeOrDefault(const std::string& recipePath, const CommandRun& job);
/// The file that an error of planning is about: the recipe, or the model without a recipe.
const std::string& fileOfPlan(const std::string& recipePath, const std::string& modelPath);
/// Plans an opened model; the plan's warnings go to the log. An error names `file`
/// (`fileOfPlan`). With `timing`, adds the time of "plan".
Result<PlannedModel> planModel(StageChain& chain, GraphPtr model, Recipe recipe,
                               const std::string& file, const CommandRun& job,
                               StageTimes* timing = nullptr);
/// The same without log output.
Result<PlannedModel> planWith(StageChain& chain, GraphPtr model, Recipe recipe,
                              const std::string& file, const CommandRun& job);

/// Returns `done`; an error at a node that names no file also gets the model's file.
Result<void> withModelNotes(Result<void> done, const std::string& modelPath);

} // namespace qs

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
    std::string file; ///< named in errors of planning: recipe or project, else the model
    RunSettings settings; ///< the project's; without a project no data
};
/// `given`: a model, or a project, whose decisions count if `recipePath` is empty. Searches for a
/// project's model that was moved (`findModel`). `movedTo`: its new path, "" = not given. `edits`:
/// applied in addition to the recipe's. Errors: those of reading them; a model that is not found;
/// `movedTo` without a project (Usage); Cancelled.
Result<ModelSource> modelSource(const std::string& given, const std::string& recipePath,
                                const std::string& movedTo, const CommandRun& job,
                                const AskedEdits& edits = {});
/// Adds `--model`: `movedTo` of `modelSource`.
void addMovedOption(CLI::App& verb, std::string& movedTo);
/// Adds `--hybrid`: the names of `withHybrid`.
void addHybridOption(CLI::App& verb, std::vector<std::string>& names);

/// Opens the model. With `timing`, adds the time of "import".
Result<GraphPtr> openModel(const std::string& path, const CommandRun& job,
                           StageTimes* timing = nullptr);
/// Opens the model and applies the recipe's edits; logs those that do not fit.
Result<EditedModelPtr> openEdited(StageChain& chain, const std::string& path, const Recipe& recipe,
                                  const CommandRun& job, StageTimes* timing = nullptr);
/// Logs the recipe's edits of converted forms that do not fit.
void warnOfFormEdits(const ConvertedModel& converted, const Recipe& recipe,
                     const std::string& path);
/// Reads the recipe, or returns the default one if the path is empty. Adds the packs that the user
/// loaded to those that it needs.
Result<Recipe> recipeOrDefault(const std::string& recipePath, const CommandRun& job);
/// Returns the file to name in an error of planning: the recipe, or without one the model.
const std::string& fileOfPlan(const std::string& recipePath, const std::string& modelPath);
/// Plans an opened model; the plan's warnings go to the log. An error names `file`
/// (`fileOfPlan`). With `timing`, adds the time of "plan". `trains`: no warning of qconfigs
/// for training.
Result<PlannedModel> planModel(StageChain& chain, GraphPtr model, Recipe recipe,
                               const std::string& file, const CommandRun& job,
                               StageTimes* timing = nullptr, bool trains = false);
/// Plans an opened model without log output.
Result<PlannedModel> planWith(StageChain& chain, GraphPtr model, Recipe recipe,
                              const std::string& file, const CommandRun& job);

/// Returns `done`; an error at a node that names no file also gets the model's file.
Result<void> withModelNotes(Result<void> done, const std::string& modelPath);

} // namespace qs

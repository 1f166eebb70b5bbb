// SPDX-License-Identifier: Apache-2.0
#include "app/commands/planned_model.h"

#include "app/commands/stopwatch.h"
#include "engine/base/log.h"
#include "engine/configure/extension_packs.h"
#include "engine/import/importer.h"
#include "engine/project/project.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

/// What a run decides with a pack holds with that pack alone.
void needLoadedPacks(Recipe& recipe)
{
    auto& needed = recipe.extensions;
    for (const ExtensionPackPtr& pack : loadedPacks())
        if (std::find(needed.begin(), needed.end(), pack->name) == needed.end())
            needed.push_back(pack->name);
}

} // namespace

Result<Recipe> recipeOrDefault(const std::string& recipePath)
{
    QS_TRY(Recipe recipe,
           recipePath.empty() ? Result<Recipe>(defaultRecipe()) : readRecipe(recipePath));
    needLoadedPacks(recipe);
    return recipe;
}

const std::string& fileOfPlan(const std::string& recipePath, const std::string& modelPath)
{
    return recipePath.empty() ? modelPath : recipePath;
}

Result<ModelSource> modelSource(const std::string& given, const std::string& recipePath)
{
    ModelSource source;
    source.model = given;
    source.file = fileOfPlan(recipePath, given);
    if (!looksLikeProject(given)) {
        QS_TRY(source.recipe, recipeOrDefault(recipePath));
        return source;
    }
    QS_TRY(Project project, readProject(given));
    std::error_code code;
    if (!std::filesystem::exists(project.modelPath, code))
        return fail(
            makeError(ErrorCode::NotFound, "its model is not where it was: " + project.modelPath)
                .inFile(given)
                .withHint("put it back, or change 'model' in the project"));
    source.model = std::move(project.modelPath);
    source.data = project.dataPath.empty() ? "sample" : std::move(project.dataPath);
    if (recipePath.empty())
        source.recipe = std::move(project.recipe);
    else {
        QS_TRY(source.recipe, readRecipe(recipePath));
    }
    needLoadedPacks(source.recipe);
    return source;
}

Result<PlannedModel> planWith(StageChain& chain, GraphPtr model, Recipe recipe,
                              const std::string& file)
{
    auto plan = chain.plan(model, recipe);
    if (!plan)
        return fail(std::move(plan).error().inFile(file));
    return PlannedModel {std::move(model), std::move(recipe), std::move(*plan)};
}

Result<GraphPtr> openModel(const std::string& path, const JobContext& job,
                           std::map<std::string, double>* timing)
{
    const Stopwatch import(timing, "import");
    job.report("import", path, 0);
    QS_TRY(GraphPtr model, importModel(path, job));
    import.stop();
    return model;
}

Result<EditedModelPtr> openEdited(StageChain& chain, const std::string& path, const Recipe& recipe,
                                  const JobContext& job, std::map<std::string, double>* timing)
{
    QS_TRY(GraphPtr model, openModel(path, job, timing));
    QS_TRY(EditedModelPtr edited, chain.edited(std::move(model), recipe, job));
    for (const std::string& line : unfitEdits(*edited, recipe.edits))
        warn(path + ": " + line);
    return edited;
}

Result<PlannedModel> planModel(StageChain& chain, GraphPtr model, Recipe recipe,
                               const std::string& file, std::map<std::string, double>* timing)
{
    const Stopwatch planning(timing, "plan");
    QS_TRY(PlannedModel planned, planWith(chain, std::move(model), std::move(recipe), file));
    planning.stop();
    for (const auto& warning : planned.plan->warnings)
        warn(warning);
    return planned;
}

Result<void> toldOfModel(Result<void> done, const std::string& modelPath)
{
    if (!done && !done.error().node.empty())
        return fail(std::move(done).error().inFile(modelPath));
    return done;
}

std::string coverageText(const Plan& plan)
{
    return std::to_string(plan.quantizedOps) + " of " + std::to_string(plan.eligibleOps)
        + " eligible operators quantized, of " + std::to_string(plan.totalOps) + " in all";
}

} // namespace qs

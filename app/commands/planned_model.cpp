// SPDX-License-Identifier: Apache-2.0
#include "app/commands/planned_model.h"

#include "app/commands/stopwatch.h"
#include "engine/base/log.h"
#include "engine/calibrate/observed_types.h"
#include "engine/convert/convert.h"
#include "engine/execute/fill_shapes.h"
#include "engine/import/importer.h"
#include "engine/plan/model_warnings.h"
#include "engine/plan/planner.h"

namespace qs {

namespace {

Result<GraphPtr> typedBy(const std::string& data, GraphPtr model, const Recipe& recipe,
                         const JobContext& job)
{
    if (data.empty() || countUntyped(*model) == 0 || !alreadyQuantized(*model).empty())
        return model;
    QS_TRY(const auto opened, openDataset(data, *model, datasetOptions(recipe.calibration)));
    return withObservedTypes(std::move(model), *opened, job);
}

} // namespace

Result<Recipe> recipeOrDefault(const std::string& recipePath)
{
    return recipePath.empty() ? Result<Recipe>(defaultRecipe()) : readRecipe(recipePath);
}

Result<PlannedModel> planWith(GraphPtr model, Recipe recipe, const std::string& file)
{
    auto backend = findBackend(recipe.backend);
    if (!backend)
        return fail(std::move(backend).error().inFile(file));
    if (auto kernels = checkLoweringKernels(recipe); !kernels)
        return fail(std::move(kernels).error().inFile(file));
    auto plan = makePlan(*model, recipe, *backend);
    if (!plan)
        return fail(std::move(plan).error().inFile(file));
    return PlannedModel {std::move(model), std::move(recipe),
                         std::make_shared<const Plan>(std::move(*plan))};
}

Result<PlannedModel> planModel(const std::string& modelPath, const std::string& recipePath,
                               const JobContext& job, const std::string& data,
                               std::map<std::string, double>* timing)
{
    QS_TRY(Recipe recipe, recipeOrDefault(recipePath));
    const Stopwatch import(timing, "import");
    job.report("import", modelPath, 0);
    QS_TRY(GraphPtr model, importModel(modelPath, job));
    QS_TRY(model, typedBy(data, std::move(model), recipe, job));
    import.stop();
    const Stopwatch planning(timing, "plan");
    QS_TRY(
        PlannedModel planned,
        planWith(std::move(model), std::move(recipe), recipePath.empty() ? modelPath : recipePath));
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

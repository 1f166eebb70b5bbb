// SPDX-License-Identifier: Apache-2.0
#include "app/commands/planned_model.h"

#include "app/commands/stopwatch.h"
#include "engine/base/log.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"

namespace qs {

Result<PlannedModel> planModel(const std::string& modelPath, const std::string& recipePath,
                               const JobContext& job, std::map<std::string, double>* timing)
{
    PlannedModel planned;
    planned.recipe = defaultRecipe();
    if (!recipePath.empty()) {
        QS_TRY(planned.recipe, readRecipe(recipePath));
    }
    const Stopwatch import(timing, "import");
    job.report("import", modelPath, 0);
    QS_TRY(planned.model, importModel(modelPath, job));
    import.stop();
    const Stopwatch planning(timing, "plan");
    QS_TRY(const Backend backend, findBackend(planned.recipe.backend));
    auto plan = makePlan(*planned.model, planned.recipe, backend);
    if (!plan)
        return fail(std::move(plan).error().inFile(recipePath.empty() ? modelPath : recipePath));
    planned.plan = std::make_shared<const Plan>(std::move(*plan));
    planning.stop();
    for (const auto& warning : planned.plan->warnings)
        warn(warning);
    return planned;
}

std::string coverageText(const Plan& plan)
{
    return std::to_string(plan.quantizedOps) + " of " + std::to_string(plan.eligibleOps)
        + " eligible operators quantized, of " + std::to_string(plan.totalOps) + " in all";
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "app/commands/model/planned_model.h"

#include "app/commands/options/outside_option.h"
#include "app/commands/stopwatch.h"
#include "engine/base/files/path_claim.h"
#include "engine/base/log.h"
#include "engine/convert/form_edits.h"
#include "engine/extensions/load_pack.h"
#include "engine/import/importer.h"
#include "engine/plan/rules/mixed_qconfigs.h"
#include "engine/project/moved_files.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace qs {

Result<Recipe> recipeOrDefault(const std::string& recipePath, const CommandRun& job)
{
    Recipe recipe = defaultRecipe();
    if (!recipePath.empty()) {
        QS_TRY(recipe, readRecipe(recipePath));
        QS_CHECK(checkOutside(recipePath, pathsOutside(recipe, recipePath), job));
    }
    return withLoadedPacks(std::move(recipe));
}

const std::string& fileOfPlan(const std::string& recipePath, const std::string& modelPath)
{
    return recipePath.empty() ? modelPath : recipePath;
}

namespace {

/// Returns the path of the project's model; logs it if the project names another path.
Result<std::string> placeOfModel(const Project& project, const std::string& file,
                                 const std::string& movedTo, const CommandRun& job)
{
    std::string place = movedTo;
    if (place.empty()) {
        QS_TRY(place, findModel(project, file, job));
    }
    if (place.empty())
        return fail(makeError(ErrorCode::NotFound,
                              "the project's model was not found at " + project.modelPath)
                        .inFile(file)
                        .withHint("move it back, or give its path with --model"));
    if (place == project.modelPath)
        return place;
    if (movedTo.empty()) {
        note(file + ": its model was moved; using " + place);
        return place;
    }
    QS_TRY(const bool same, isModelOf(project, place, job));
    if (!same)
        warn(place + ": its content differs from the model of " + file
             + "; decisions that do not fit are left out");
    return place;
}

} // namespace

void addMovedOption(CLI::App& verb, std::string& movedTo)
{
    verb.add_option("--model", movedTo, "of a project: the new path of its model");
}

void addHybridOption(CLI::App& verb, std::vector<std::string>& names)
{
    verb.add_option("--hybrid", names,
                    "nodes, modules or classes, by commas, that stay float on the CPU between the "
                    "quantized ones (Horizon's hybrid mode); result and recipe.json keep the rules")
        ->delimiter(',');
}

Result<ModelSource> modelSource(const std::string& given, const std::string& recipePath,
                                const std::string& movedTo, const CommandRun& job,
                                const AskedEdits& edits)
{
    ModelSource source;
    source.model = given;
    source.file = fileOfPlan(recipePath, given);
    if (!isProjectFile(given)) {
        if (!movedTo.empty())
            return fail(makeError(ErrorCode::Usage, "--model is for a project")
                            .inFile(given)
                            .withHint("a model's own file is named as MODEL"));
        QS_TRY(source.recipe, recipeOrDefault(recipePath, job));
        source.recipe = withAskedEdits(std::move(source.recipe), edits);
        return source;
    }
    QS_TRY(Project project, readProject(given));
    removeAbandonedOnce(std::filesystem::absolute(given).parent_path().string());
    Project read = project;
    if (!movedTo.empty())
        read.modelPath.clear(); // the user gives its path
    QS_CHECK(checkOutside(given, pathsOutside(read, given), job));
    QS_TRY(source.model, placeOfModel(project, given, movedTo, job));
    source.settings = settingsOf(project, given);
    for (const auto& [was, now] :
         {std::pair(project.dataPath, source.settings.calibrationData),
          std::pair(project.comparisonPath, source.settings.comparisonData)})
        if (!was.empty() && now != was)
            note(given + ": its data were moved; using " + now);
    if (recipePath.empty())
        source.recipe = withLoadedPacks(std::move(project.recipe));
    else {
        QS_TRY(source.recipe, recipeOrDefault(recipePath, job));
    }
    source.recipe = withAskedEdits(std::move(source.recipe), edits);
    return source;
}

Result<PlannedModel> planWith(StageChain& chain, GraphPtr model, Recipe recipe,
                              const std::string& file, const CommandRun& job)
{
    auto plan = chain.plan(model, recipe, job);
    if (!plan)
        return fail(std::move(plan).error().inFile(file));
    job.words().know(model, *plan);
    return PlannedModel {std::move(model), std::move(recipe), std::move(*plan)};
}

Result<GraphPtr> openModel(const std::string& path, const CommandRun& job, StageTimes* timing)
{
    const Stopwatch import(timing, "import");
    job.report("import", path, 0);
    QS_TRY(GraphPtr model, importModel(path, job));
    import.stop();
    job.words().know(model);
    return model;
}

Result<EditedModelPtr> openEdited(StageChain& chain, const std::string& path, const Recipe& recipe,
                                  const CommandRun& job, StageTimes* timing)
{
    QS_TRY(GraphPtr model, openModel(path, job, timing));
    QS_TRY(EditedModelPtr edited, chain.edited(std::move(model), recipe, job));
    job.words().know(edited->graph);
    for (const std::string& line : unfitEdits(*edited, recipe.edits))
        warn(path + ": " + line);
    for (std::size_t i = 0; i < recipe.edits.size(); ++i)
        if (recipe.edits[i].kind == EditKind::AsFloat32 && edited->outcomes[i].problem.empty())
            note(path + ": float16 and bfloat16 are converted to float32");
    return edited;
}

void warnOfFormEdits(const ConvertedModel& converted, const Recipe& recipe, const std::string& path)
{
    for (const std::string& line : unfitFormEdits(converted, recipe))
        warn(path + ": " + line);
}

Result<PlannedModel> planModel(StageChain& chain, GraphPtr model, Recipe recipe,
                               const std::string& file, const CommandRun& job, StageTimes* timing,
                               bool trains)
{
    const Stopwatch planning(timing, "plan");
    QS_TRY(PlannedModel planned, planWith(chain, std::move(model), std::move(recipe), file, job));
    planning.stop();
    for (const auto& warning : planned.plan->warnings)
        if (!trains || !warning.starts_with(kForTraining))
            warn(warning);
    for (const PlanFinding& finding : planned.plan->findings)
        note(finding.text);
    return planned;
}

Result<void> withModelNotes(Result<void> done, const std::string& modelPath)
{
    if (!done && !done.error().node.empty())
        return fail(std::move(done).error().inFile(modelPath));
    return done;
}

} // namespace qs

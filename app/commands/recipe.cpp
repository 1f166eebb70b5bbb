// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/planned_model.h"
#include "app/commands/text/console.h"
#include "engine/base/files/atomic_file.h"
#include "engine/configure/backend/target.h"
#include "engine/plan/summaries/starting_recipe.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace qs {

namespace {

struct RecipeOptions
{
    std::string model, backend, out;
};

Result<void> runRecipe(const RecipeOptions& options, const CommandRun& job)
{
    std::error_code code;
    if (!options.out.empty() && std::filesystem::exists(options.out, code))
        return fail(makeError(ErrorCode::Usage, "the file exists already")
                        .inFile(options.out)
                        .withHint("give --out another name, or remove the file"));
    Recipe recipe = defaultRecipe();
    if (!options.backend.empty()) {
        QS_TRY(recipe, withBackend(recipe, options.backend));
    }
    StageChain chain;
    QS_TRY(const GraphPtr model, openModel(options.model, job));
    QS_TRY(const PlannedModel planned,
           planWith(chain, model, std::move(recipe), options.model, job));
    const std::string text = startingRecipe(*planned.model, *planned.plan, planned.recipe);
    return options.out.empty() ? printOut(text) : writeFileAtomically(options.out, text);
}

} // namespace

void addRecipeCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<RecipeOptions>();
    CLI::App* verb = app.add_subcommand(
        "recipe", "Writes a recipe to start from: the model's modules, every key with its default");
    verb->add_option("MODEL", options->model, "a .pt2 of torch.export, or a TorchScript file")
        ->required();
    verb->add_option("--backend", options->backend, "the target: a name or a backend file");
    verb->add_option("--out", options->out, "the file to write; default: standard output");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) { return runRecipe(*options, job); };
    });
}

} // namespace qs

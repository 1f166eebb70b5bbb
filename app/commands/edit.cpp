// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/console.h"
#include "app/commands/planned_model.h"
#include "engine/base/text.h"
#include "engine/configure/edit_step_json.h"
#include "engine/export/exporter.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

struct EditOptions
{
    std::string model, recipe, out;
    bool json = false, strict = false;
};

Json namesOf(const Graph& graph, const std::vector<NodeId>& nodes)
{
    Json names = Json::array();
    for (const NodeId id : nodes)
        if (const Node* node = graph.tryGet(id))
            names.push_back(node->name);
    return names;
}

std::string editJson(const EditedModel& edited, const Recipe& recipe, const std::string& out)
{
    Json document {{"format", "quantscope.edit"},
                   {"version", 1},
                   {"model", edited.file->info().path},
                   {"written", out.empty() ? Json() : Json(out)}};
    Json& list = document["edits"] = Json::array();
    for (std::size_t i = 0; i < recipe.edits.size(); ++i) {
        const EditOutcome& outcome = edited.outcomes.at(i);
        list.push_back({{"edit", editText(recipe.edits[i])},
                        {"problem", outcome.problem.empty() ? Json() : Json(outcome.problem)},
                        {"nodes", namesOf(*edited.graph, outcome.touched)}});
    }
    return document.dump(2) + "\n";
}

std::string editTable(const EditedModel& edited, const Recipe& recipe)
{
    TextTable table({">", "edit", "nodes"});
    for (std::size_t i = 0; i < recipe.edits.size(); ++i) {
        const EditOutcome& outcome = edited.outcomes.at(i);
        std::vector<std::string> names;
        for (const auto& name : namesOf(*edited.graph, outcome.touched))
            names.push_back(name);
        table.add({std::to_string(i + 1), editText(recipe.edits[i]),
                   outcome.problem.empty() ? quotedNames(names) : "left out: " + outcome.problem});
    }
    return table.text();
}

Result<void> runEdit(const EditOptions& options, const JobContext& job)
{
    QS_TRY(const ModelSource source, modelSource(options.model, options.recipe));
    const Recipe& recipe = source.recipe;
    if (recipe.edits.empty())
        return fail(makeError(ErrorCode::BadInput, "it holds no edits")
                        .inFile(source.file)
                        .withHint("they stand under the key 'edits'"));
    std::error_code code;
    for (const std::string& read : {options.model, options.recipe, source.model})
        if (!options.out.empty() && std::filesystem::equivalent(options.out, read, code))
            return fail(makeError(ErrorCode::Usage, "--out would replace what is read")
                            .inFile(options.out)
                            .withHint("name another file"));
    StageChain chain;
    QS_TRY(const GraphPtr model, openModel(source.model, job));
    QS_TRY(const EditedModelPtr edited, chain.edited(model, recipe, job));
    const auto unfit = std::int64_t(unfitEdits(*edited, recipe.edits).size());
    if (options.strict && unfit > 0)
        return fail(
            makeError(ErrorCode::BadInput, "--strict: " + unfitEdits(*edited, recipe.edits).front())
                .inFile(source.model));
    if (!options.out.empty()) {
        job.report("export", options.out, 0);
        QS_CHECK(writePt2(*edited->graph, options.out, job));
    }
    if (options.json)
        return printOut(editJson(*edited, recipe, options.out));
    std::string text = editTable(*edited, recipe) + "\n"
        + counted(std::int64_t(recipe.edits.size()) - unfit, "edit") + " done";
    text += unfit ? ", " + std::to_string(unfit) + " left out\n" : "\n";
    if (!options.out.empty())
        text += "written: " + options.out + "\n";
    return printOut(text);
}

} // namespace

void addEditCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<EditOptions>();
    CLI::App* verb = app.add_subcommand(
        "edit", "Does a recipe's edits to a model's graph and writes the float model");
    verb->add_option("MODEL", options->model, "a .pt2, a TorchScript .pt or a project")->required();
    verb->add_option("--recipe", options->recipe, "whose 'edits' are done; a project has its own");
    verb->add_option("--out", options->out,
                     "the .pt2 to write; without it the edits are only tried");
    verb->add_flag("--strict", options->strict, "fail where an edit does not fit the model");
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const JobContext& job) { return runEdit(*options, job); };
    });
}

} // namespace qs

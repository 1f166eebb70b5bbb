// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/input_files.h"
#include "app/commands/model/planned_model.h"
#include "app/commands/text/console.h"
#include "engine/base/text.h"
#include "engine/configure/edit_text.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/edit/edit_titles.h"
#include "engine/execute/fill_shapes.h"
#include "engine/export/exporter.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

struct EditOptions
{
    std::string model, movedTo, recipe, out;
    std::string data, dataOut; ///< data of the whole model; of the part
    bool json = false, strict = false;
    AskedEdits edits;
};

Json namesOf(const Graph& graph, const std::vector<NodeId>& nodes)
{
    Json names = Json::array();
    for (const NodeId id : nodes)
        if (const Node* node = graph.tryGet(id))
            names.push_back(node->name);
    return names;
}

std::string editJson(const EditedModel& edited, const Recipe& recipe, const std::string& out,
                     const std::string& dataOut)
{
    Json document {{"format", "quantscope.edit"},
                   {"version", 1},
                   {"model", edited.file->info().path},
                   {"written", out.empty() ? Json() : Json(out)},
                   {"data", dataOut.empty() ? Json() : Json(dataOut)}};
    const EditTitles titles(edited);
    Json& list = document["edits"] = Json::array();
    for (std::size_t i = 0; i < recipe.edits.size(); ++i) {
        const EditOutcome& outcome = edited.outcomes.at(i);
        list.push_back({{"edit", titles.of(recipe.edits[i])},
                        {"form", editFormName(recipe.edits[i].form)},
                        {"done", outcome.problem.empty() && isEditOf(recipe.edits[i], edited)},
                        {"problem", outcome.problem.empty() ? Json() : Json(outcome.problem)},
                        {"nodes", namesOf(*edited.graph, outcome.touched)}});
    }
    for (const CureOutcome& outcome : edited.cures)
        document["cures"].push_back(
            {{"cure", cureText(outcome.cure)},
             {"done", outcome.problem.empty()},
             {"problem", outcome.problem.empty() ? Json() : Json(outcome.problem)},
             {"nodes", namesOf(*edited.graph, outcome.touched)}});
    return document.dump(2) + "\n";
}

std::string namesText(const EditedModel& edited, const std::vector<NodeId>& nodes)
{
    std::vector<std::string> names;
    for (const auto& name : namesOf(*edited.graph, nodes))
        names.push_back(name);
    return quotedNames(names);
}

/// Returns the edits and cures that do not fit the model.
std::vector<std::string> leftOut(const EditedModel& edited, const Recipe& recipe)
{
    std::vector<std::string> lines = unfitEdits(edited, recipe.edits);
    for (std::string& line : unfitModelCures(edited))
        lines.push_back(std::move(line));
    return lines;
}

std::string editTable(const EditedModel& edited, const Recipe& recipe, const ModelWords& words)
{
    const EditTitles titles(edited);
    TextTable table({">", "edit", "nodes"});
    for (std::size_t i = 0; i < recipe.edits.size(); ++i) {
        const EditOutcome& outcome = edited.outcomes.at(i);
        table.add({std::to_string(i + 1), titles.of(recipe.edits[i]),
                   !outcome.problem.empty() ? "left out: " + words.named(outcome.problem)
                       : !isEditOf(recipe.edits[i], edited)
                       ? "applied by 'quantize'"
                       : words.named(namesText(edited, outcome.touched))});
    }
    for (const CureOutcome& outcome : edited.cures)
        table.add({"cure", cureText(outcome.cure),
                   outcome.problem.empty() ? words.named(namesText(edited, outcome.touched))
                                           : "left out: " + words.named(outcome.problem)});
    return table.text();
}

/// Returns the file of the part's data: by default beside the part, with its name.
std::string partDataPath(const EditOptions& options)
{
    return options.dataOut.empty()
        ? std::filesystem::path(options.out).replace_extension(".npz").string()
        : options.dataOut;
}

Result<void> checkDataWords(const EditOptions& options)
{
    if (options.data.empty() && !options.dataOut.empty())
        return fail(makeError(ErrorCode::Usage, "--data-out needs --data")
                        .withHint("name the whole model's data"));
    if (!options.data.empty() && options.out.empty() && options.dataOut.empty())
        return fail(makeError(ErrorCode::Usage, "--data needs --out or --data-out")
                        .withHint("the part's data are written beside the part"));
    return {};
}

Result<void> runEdit(const EditOptions& options, const CommandRun& job)
{
    QS_CHECK(checkDataWords(options));
    QS_TRY(const ModelSource source,
           modelSource(options.model, options.recipe, options.movedTo, job, options.edits));
    const Recipe& recipe = source.recipe;
    if (!changesModel(recipe))
        return fail(makeError(ErrorCode::BadInput, "it contains no edits")
                        .inFile(source.file)
                        .withHint("list them under the key 'edits'"));
    std::string dataOut = options.data.empty() ? "" : partDataPath(options);
    for (const auto& [word, written] : {std::pair("--out", options.out), {"--data-out", dataOut}})
        QS_CHECK(checkSpared(word, {written},
                             {options.model, options.recipe, source.model, options.data}));
    StageChain chain;
    QS_TRY(const GraphPtr model, openModel(source.model, job));
    QS_TRY(const EditedModelPtr edited, chain.edited(model, recipe, job));
    job.words().know(edited->graph);
    const std::vector<std::string> problems = leftOut(*edited, recipe);
    const auto unfit = std::int64_t(problems.size());
    const auto cures = std::int64_t(edited->cures.size());
    const auto own = cures
        + std::count_if(recipe.edits.begin(), recipe.edits.end(),
                        [&](const auto& step) { return isEditOf(step, *edited); });
    if (options.strict && unfit > 0)
        return fail(
            makeError(ErrorCode::BadInput, "--strict: " + problems.front()).inFile(source.model));
    if (own == 0 && unfit == 0 && !(options.out.empty() && dataOut.empty()))
        return fail(
            makeError(
                ErrorCode::BadInput,
                "all edits are of converted forms other than this model's; nothing is written")
                .inFile(source.model)
                .withHint("'quantscope quantize' applies them, or edit an exported file"));
    if (unfit == std::int64_t(recipe.edits.size()) + cures
        && !(options.out.empty() && dataOut.empty()))
        return fail(makeError(ErrorCode::BadInput,
                              "no edit applies, nothing is written: " + problems.front())
                        .inFile(source.model));
    RunSettings settings;
    settings.calibrationData = options.data;
    const bool tellsShapes = !lacksShapes(*edited->graph);
    const bool isPart = !edited->extractions.empty();
    if (isPart || tellsShapes) { // else the data only determine shapes
        if (!dataOut.empty())
            QS_CHECK(chain.savePartInputs(edited, recipe, settings, dataOut, job));
        settings.calibrationData = dataOut;
    } else {
        dataOut.clear();
    }
    if (!options.out.empty())
        QS_CHECK(chain.saveModel(edited->graph, recipe, settings, options.out, job));
    if (options.json)
        return printOut(editJson(*edited, recipe, options.out, dataOut));
    std::string text = editTable(*edited, recipe, job.words()) + "\n"
        + counted(std::count_if(edited->outcomes.begin(), edited->outcomes.end(),
                                [&, i = std::size_t(0)](const EditOutcome& outcome) mutable {
                                    return isEditOf(recipe.edits[i++], *edited)
                                        && outcome.problem.empty();
                                }),
                  "edit")
        + " done";
    text += unfit ? ", " + std::to_string(unfit) + " left out\n" : "\n";
    for (const std::string& written : {options.out, dataOut})
        if (!written.empty())
            text += "written: " + written + "\n";
    return printOut(text);
}

} // namespace

void addEditCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<EditOptions>();
    CLI::App* verb = app.add_subcommand(
        "edit", "Applies a recipe's edits to a model's graph and writes the float model");
    verb->add_option("MODEL", options->model, "a .pt2, a TorchScript .pt or a project")->required();
    addMovedOption(*verb, options->movedTo);
    addEditOptions(*verb, options->edits);
    verb->add_option("--recipe", options->recipe,
                     "whose 'edits' are applied; a project has its own");
    verb->add_option("--out", options->out,
                     "the .pt2 to write; without it the edits are only tried");
    verb->add_option("--data", options->data,
                     "data of the whole model: also writes the values of an extracted "
                     "part's inputs, so that the part can be quantized by itself; gives "
                     "shapes that a TorchScript file lacks");
    verb->add_option("--data-out", options->dataOut,
                     "the .npz for them; without it PART.npz beside PART.pt2");
    verb->add_flag("--strict", options->strict, "fail where an edit does not fit the model");
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) { return runEdit(*options, job); };
    });
}

} // namespace qs

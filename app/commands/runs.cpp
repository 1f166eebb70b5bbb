// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/options/run_argument.h"
#include "app/commands/text/console.h"
#include "engine/base/text.h"
#include "engine/export/documents/node_json.h"
#include "engine/project/project.h"
#include "engine/runs/run_store.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

struct RunsOptions
{
    std::string project, name, other, note;
    bool json = false;
};

/// Returns the folder of a project's runs. Fails if the argument is not a project.
Result<std::string> folderOf(const RunsOptions& options)
{
    QS_TRY(const Project project, readProject(options.project));
    return runsFolderOf(options.project);
}

std::string runJson(const std::vector<RunEntry>& runs)
{
    Json list = Json::array();
    const auto orNull = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
    for (const RunEntry& run : runs)
        list.push_back({{"name", run.label.name},
                        {"created", run.label.created},
                        {"note", run.label.note},
                        {"named", run.label.isNamed},
                        {"folder", run.folder},
                        {"model", {{"path", run.modelPath}, {"sha256", run.modelSha256}}},
                        {"decisions", run.decisions},
                        {"output_db", orNull(run.headline.outputDb())},
                        {"int8_top1", orNull(run.headline.int8Top1)},
                        {"quantized", orNull(run.headline.quantizedOps)},
                        {"eligible", orNull(run.headline.eligibleOps)},
                        {"problem", run.problem.empty() ? Json(nullptr) : Json(run.problem)}});
    return Json {{"runs", std::move(list)}}.dump(2, ' ', false, Json::error_handler_t::replace)
        + "\n";
}

std::string runsText(const std::vector<RunEntry>& runs)
{
    TextTable table({"name", "made", ">output dB", ">top-1", ">int8 ops", "decisions", "note"});
    std::string damaged;
    for (const RunEntry& run : runs) {
        if (!run.problem.empty()) {
            damaged += run.label.name + " is damaged: " + run.problem + "\n";
            continue;
        }
        const ResultFigures& head = run.headline;
        const auto db = head.outputDb();
        table.add({run.label.name, run.label.created, db ? fixedText(*db, 2) : "-",
                   head.int8Top1 ? fixedText(100 * *head.int8Top1, 2) + " %" : "-",
                   head.quantizedOps ? std::to_string(*head.quantizedOps) + " of "
                           + std::to_string(head.eligibleOps.value_or(0))
                                     : "-",
                   run.decisions, run.label.note});
    }
    return (table.empty() ? "no run is kept\n" : table.text()) + damaged;
}

Result<void> list(const RunsOptions& options)
{
    QS_TRY(const std::string folder, folderOf(options));
    const auto runs = listRuns(folder);
    return printOut(options.json ? runJson(runs) : runsText(runs));
}

Result<void> keep(const RunsOptions& options)
{
    QS_TRY(const std::string folder, folderOf(options));
    QS_TRY(const std::string source,
           options.other.empty() ? currentResultOf(options.project)
                                 : Result<std::string>(options.other));
    RunLabel label;
    label.name = options.name;
    label.note = options.note;
    QS_TRY(const RunEntry run, keepRunFrom(folder, source, std::move(label)));
    return printOut("kept as " + inQuotes(run.label.name) + " in " + run.folder + "\n");
}

Result<void> rename(const RunsOptions& options)
{
    QS_TRY(const std::string folder, folderOf(options));
    QS_TRY(const RunEntry run, findRun(folder, options.name));
    QS_CHECK(renameRun(folder, run, options.other));
    return printOut(inQuotes(run.label.name) + " is now called " + inQuotes(options.other) + "\n");
}

Result<void> note(const RunsOptions& options)
{
    QS_TRY(const std::string folder, folderOf(options));
    QS_TRY(const RunEntry run, findRun(folder, options.name));
    QS_CHECK(noteRun(run, options.note));
    return printOut("note added to " + inQuotes(run.label.name) + "\n");
}

Result<void> remove(const RunsOptions& options)
{
    QS_TRY(const std::string folder, folderOf(options));
    QS_TRY(const RunEntry run, findRun(folder, options.name));
    QS_CHECK(removeRun(folder, run));
    return printOut(inQuotes(run.label.name) + " is removed\n");
}

} // namespace

void addRunsCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<RunsOptions>();
    CLI::App* verb = app.add_subcommand("runs", "Lists and manages a project's runs");
    verb->add_option("PROJECT", options->project, "a project's file")->required();
    verb->require_subcommand(0, 1);
    // The verb's callback runs after that of its subcommand, and then has no effect.
    const auto does = [&chosen, options](CLI::App* part, Result<void> (*work)(const RunsOptions&)) {
        part->callback([options, part, &chosen, work] {
            if (part->get_subcommands().empty())
                chosen = [=](const CommandRun&) { return work(*options); };
        });
    };
    does(verb, list);
    CLI::App* listing = verb->add_subcommand("list", "names, figures and decisions of all runs");
    for (CLI::App* part : {verb, listing})
        part->add_flag("--json", options->json, "one JSON document on stdout");
    does(listing, list);
    CLI::App* keeping = verb->add_subcommand("keep", "keep the project's current result");
    keeping->add_option("NAME", options->name,
                        "its name; without one that of the search's trial, or the result's");
    keeping->add_option("--from", options->other,
                        "keep this result folder or 'compare --json' document instead");
    keeping->add_option("--note", options->note, "the note, one line");
    does(keeping, keep);
    CLI::App* renaming = verb->add_subcommand("rename", "give a run another name");
    renaming->add_option("NAME", options->name, "the run")->required();
    renaming->add_option("NEW", options->other, "its new name")->required();
    does(renaming, rename);
    CLI::App* noting = verb->add_subcommand("note", "add a one-line note to a run");
    noting->add_option("NAME", options->name, "the run")->required();
    noting->add_option("TEXT", options->note, "the line")->required();
    does(noting, note);
    CLI::App* removing = verb->add_subcommand("remove", "delete a run");
    removing->add_option("NAME", options->name, "the run")->required();
    does(removing, remove);
}

} // namespace qs

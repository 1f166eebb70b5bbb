// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/compare_files.h"
#include "app/commands/model/restored_result.h"
#include "app/commands/options/compared_options.h"
#include "app/commands/options/device_option.h"
#include "app/commands/options/run_argument.h"
#include "app/commands/ranks.h"
#include "app/commands/stopwatch.h"
#include "app/commands/text/console.h"
#include "app/commands/text/result_text.h"
#include "engine/project/moved_files.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace qs {

namespace {

struct CompareOptions
{
    std::string model, result, data, recipe;
    std::string device = "auto", against, localTerms;
    bool json = false;
    AskedEdits edits;
};

/// Takes missing options from a project: its current result, the data and the reference of its
/// comparison.
Result<void> fillFromProject(CompareOptions& options)
{
    const bool isProject = isProjectFile(options.model);
    for (const auto& [word, given] :
         {std::pair("--result", &options.result), std::pair("--data", &options.data)})
        if (given->empty() && !isProject)
            return fail(makeError(ErrorCode::Usage, std::string(word) + " is required")
                            .withHint("only a project names one"));
    if (!isProject)
        return {};
    QS_TRY(const Project project, readProject(options.model));
    const RunSettings settings = settingsOf(project, options.model);
    if (options.result.empty()) {
        QS_TRY(options.result, currentResultOf(options.model));
    }
    if (options.data.empty())
        options.data = settings.compared();
    if (options.data.empty())
        return fail(makeError(ErrorCode::Usage, "--data is required")
                        .inFile(options.model)
                        .withHint("the project names no data"));
    if (options.against.empty() && settings.againstOriginal)
        options.against = kAgainstOriginal;
    if (options.localTerms.empty() && settings.allLocalTerms)
        options.localTerms = kAllLocalTerms;
    return {};
}

Result<void> runCompare(const CompareOptions& options, const CommandRun& job)
{
    ResultParts parts;
    StageChain chain;
    chain.setGroup(job.group());
    StageTimes times;
    const RunSettings settings {options.data,
                                {},
                                options.device,
                                options.against == kAgainstOriginal,
                                options.localTerms == kAllLocalTerms};
    QS_TRY(const RestoredResult restored,
           restoreResult(chain, {options.result, options.model, settings}, job, &times));
    const PlannedModel& planned = restored.planned;
    QS_CHECK(checkRanks(job, [&] {
        return RunIdentity {{"models", planned.model->info().sha256},
                            {"results", contentMark(options.result)},
                            {"data", contentMark(options.data)}};
    }));
    const Stopwatch comparing(&times, "compare");
    QS_TRY(const ComparisonPtr comparison,
           chain.compare({restored.calibration, restored.converted, planned.recipe, settings,
                          restored.edited},
                         job));
    comparing.stop();
    if (!job.group()->isFirst())
        return {};
    parts.timingSeconds = times.seconds();
    parts.timingSeconds["prepare"] = restored.calibration->prepareSeconds;
    parts.device = restored.calibration->device;
    parts.model = planned.model.get();
    parts.plan = planned.plan.get();
    parts.recipe = &planned.recipe;
    parts.converted = restored.converted.get();
    parts.observations = restored.calibration->observations.get();
    parts.comparison = comparison.get();
    parts.threads = comparison->threads;
    parts.ranks = job.group()->size();
    parts.recipeSha256 = restored.recipeSha256;
    parts.backendSha256 = restored.was.backendSha256;
    parts.calibrationData = restored.was.calibrationData;
    parts.dataSha256 = restored.was.dataSha256;
    parts.comparisonData = options.data;
    QS_TRY(const std::string text, options.json ? resultJson(parts) : resultText(parts));
    return printOut(text);
}

} // namespace

void addCompareCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<CompareOptions>();
    CLI::App* verb = app.add_subcommand(
        "compare", "Measures, layer by layer, the error of a conversion on data");
    verb->add_option("MODEL", options->model,
                     "the model that the result was made from, or a project")
        ->required();
    verb->add_option("--result", options->result,
                     "the folder, its result.json, or a quantized model (.pt2, TorchScript) of any "
                     "origin; a project has its current one");
    verb->add_option(
        "--data", options->data,
        "a .npz, a .pt of torch.save, a folder of images, .tar shards, or 'sample'; a project has "
        "its own");
    verb->add_option("--recipe", options->recipe,
                     "with a quantized model: how the data are read (\"calibration\")");
    addDeviceOption(*verb, options->device);
    addAgainstOption(*verb, options->against);
    addLocalTermsOption(*verb, options->localTerms);
    addFloatOption(*verb, options->edits);
    verb->add_flag("--json", options->json, "a whole result document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) -> Result<void> {
            const bool isAsked = !options->against.empty() || !options->localTerms.empty();
            QS_CHECK(fillFromProject(*options));
            QS_CHECK(checkComparable(options->result));
            if (isModelFile(options->result) && isAsked)
                return fail(makeError(ErrorCode::Usage,
                                      "--against and --local-terms are for a result folder: a "
                                      "quantized model of another origin is compared with MODEL "
                                      "as it is, value by value"));
            if (isModelFile(options->result) && !job.group()->isFirst())
                return {}; // the first rank compares files by itself
            if (isModelFile(options->result))
                return withModelNotes(
                    runFileCompare({options->model, options->result, options->data, options->recipe,
                                    options->json, options->edits},
                                   job),
                    options->model);
            if (!options->recipe.empty() && std::filesystem::is_directory(options->result))
                return fail(makeError(ErrorCode::Usage,
                                      "--recipe is for a quantized model: a result has its own"));
            return withModelNotes(runCompare(*options, job), options->model);
        };
    });
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/compare_files.h"
#include "app/commands/console.h"
#include "app/commands/device_option.h"
#include "app/commands/planned_model.h"
#include "app/commands/result_text.h"
#include "app/commands/stopwatch.h"
#include "engine/base/log.h"
#include "engine/base/sha256.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qs {

namespace {

struct CompareOptions
{
    std::string model, result, data, recipe;
    std::string device = "auto";
    bool json = false;
};

/// The result document and the recipe beside it.
struct StoredResult
{
    std::string resultPath, recipePath, document;
};

Result<StoredResult> openResult(const std::string& given)
{
    namespace fs = std::filesystem;
    StoredResult stored;
    std::error_code code;
    const fs::path path(given);
    const fs::path file = fs::is_directory(path, code) ? path / "result.json" : path;
    stored.resultPath = file.string();
    stored.recipePath = (file.parent_path() / "recipe.json").string();
    std::ifstream in(file, std::ios::binary);
    if (!in)
        return fail(makeError(ErrorCode::NotFound, "there is no such result")
                        .inFile(stored.resultPath)
                        .withHint("make one with 'quantscope quantize'"));
    std::ostringstream text;
    text << in.rdbuf();
    stored.document = text.str();
    return stored;
}

/// Says what is no longer as it was when the result was made.
void warnOfChanges(const StoredResult& stored, const StoredQuantization& was,
                   const std::string& recipeSha256)
{
    const auto changed = [](const std::string& then, const std::string& now) {
        return !then.empty() && then != now;
    };
    if (changed(was.recipeSha256, recipeSha256))
        warn(stored.recipePath + " was changed since " + stored.resultPath
             + " was made: its scales are used, with the changed recipe's plan");
    if (!was.backendSha256.empty()) {
        const auto backend
            = std::filesystem::path(stored.recipePath).parent_path() / "backend.json";
        if (changed(was.backendSha256, fileSha256(backend.string()).value_or("")))
            warn(backend.string() + " was changed since " + stored.resultPath
                 + " was made: its scales are used, with the changed backend's plan");
    }
    ContentHashes hashes;
    const std::string& data = was.calibrationData;
    if (data.empty() || data == "sample")
        return;
    if (const auto now = hashes.of(data, {}); now && changed(was.dataSha256, *now))
        warn(data + " was changed since " + stored.resultPath
             + " was calibrated on it: the scales are those of the data before");
}

Result<void> runCompare(const CompareOptions& options, const JobContext& job)
{
    QS_TRY(const StoredResult stored, openResult(options.result));
    ResultParts parts;
    QS_TRY(Recipe recipe, readRecipe(stored.recipePath));
    QS_TRY(GraphPtr model, openModel(options.model, job, &parts.timingSeconds));
    if (auto same = checkResultIsOf(*model, stored.document); !same)
        return fail(std::move(same).error().inFile(stored.resultPath));
    StageChain chain;
    const RunSettings settings {options.data, {}, options.device};
    // All of the data is compared on, whatever the recipe calibrates on.
    recipe.calibration.batches = 0;
    QS_CHECK(chain.data(*model, options.data, recipe.calibration));
    QS_TRY(model, chain.typed(std::move(model), recipe, settings, job));
    QS_TRY(const PlannedModel planned,
           planModel(chain, std::move(model), std::move(recipe), stored.recipePath,
                     &parts.timingSeconds));
    auto was = quantizationFromResult(stored.document, *planned.model, *planned.plan);
    if (!was)
        return fail(std::move(was).error().inFile(stored.resultPath));
    QS_TRY(parts.recipeSha256, fileSha256(stored.recipePath));
    warnOfChanges(stored, *was, parts.recipeSha256);
    QS_TRY(const CalibrationPtr calibration,
           chain.restore({planned.model, planned.plan, planned.recipe, settings},
                         std::move(was->qparams), std::move(was->observations),
                         KeyBuilder("document").add(stored.document).key(), job));
    if (!calibration->note.empty())
        note(calibration->note);
    parts.timingSeconds["prepare"] = calibration->prepareSeconds;
    const Stopwatch converting(&parts.timingSeconds, "convert");
    job.report("convert", "rebuilding the converted graph", 0);
    QS_TRY(const ConvertedPtr converted,
           chain.convert({calibration, planned.recipe, settings}, job));
    converting.stop();
    const Stopwatch comparing(&parts.timingSeconds, "compare");
    QS_TRY(const ComparisonPtr comparison,
           chain.compare({calibration, converted, planned.recipe, settings}, job));
    comparing.stop();
    parts.device = calibration->device;
    parts.model = planned.model.get();
    parts.plan = planned.plan.get();
    parts.recipe = &planned.recipe;
    parts.converted = converted.get();
    parts.observations = calibration->observations.get();
    parts.comparison = comparison.get();
    parts.threads = comparison->threads;
    parts.backendSha256 = was->backendSha256;
    parts.calibrationData = was->calibrationData;
    parts.dataSha256 = was->dataSha256;
    return printOut(options.json ? resultJson(parts) : resultText(parts));
}

} // namespace

void addCompareCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<CompareOptions>();
    CLI::App* verb = app.add_subcommand(
        "compare", "Measures, layer by layer, what a conversion loses on data");
    verb->add_option("MODEL", options->model, "the model that the result was made from")
        ->required();
    verb->add_option(
            "--result", options->result,
            "the folder, its result.json, or a quantized model (.pt2, TorchScript) of any origin")
        ->required();
    verb->add_option("--data", options->data,
                     "a .npz, a .pt of torch.save, a folder of images, or 'sample'")
        ->required();
    verb->add_option("--recipe", options->recipe,
                     "with a quantized model: how the data are read (\"calibration\")");
    addDeviceOption(*verb, options->device);
    verb->add_flag("--json", options->json, "a whole result document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const JobContext& job) {
            if (isModelFile(options->result))
                return toldOfModel(runFileCompare({options->model, options->result, options->data,
                                                   options->recipe, options->json},
                                                  job),
                                   options->model);
            if (!options->recipe.empty() && std::filesystem::is_directory(options->result))
                return Result<void>(fail(makeError(
                    ErrorCode::Usage, "--recipe is for a quantized model: a result has its own")));
            return toldOfModel(runCompare(*options, job), options->model);
        };
    });
}

} // namespace qs

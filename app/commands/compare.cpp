// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/compare_files.h"
#include "app/commands/console.h"
#include "app/commands/device_option.h"
#include "app/commands/planned_model.h"
#include "app/commands/result_text.h"
#include "app/commands/stopwatch.h"
#include "engine/base/log.h"
#include "engine/calibrate/observed_types.h"
#include "engine/compare/comparator.h"
#include "engine/convert/convert.h"
#include "engine/import/importer.h"
#include "engine/import/sha256.h"
#include "engine/prepare/prepare.h"

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

Result<ConvertedPtr> rebuild(const PlannedModel& planned, QParamsTable qparams, const Dataset& data,
                             ResultParts& parts, const JobContext& job)
{
    const Stopwatch preparing(&parts.timingSeconds, "prepare");
    QS_TRY(PreparedPtr prepared, prepareModel(planned.model, planned.plan, job));
    preparing.stop();
    const Stopwatch converting(&parts.timingSeconds, "convert");
    job.report("convert", "rebuilding the converted graph", 0);
    QS_TRY(const Batch first, data.batch(0));
    auto converted
        = convertModel(std::move(prepared), std::move(qparams), planned.recipe, &first, job);
    converting.stop();
    return converted;
}

Result<void> runCompare(const CompareOptions& options, const JobContext& job)
{
    QS_TRY(const StoredResult stored, openResult(options.result));
    ResultParts parts;
    QS_TRY(Recipe recipe, readRecipe(stored.recipePath));
    QS_TRY(GraphPtr model, openModel(options.model, job, &parts.timingSeconds));
    if (auto same = checkResultIsOf(*model, stored.document); !same)
        return fail(std::move(same).error().inFile(stored.resultPath));
    QS_TRY(const auto data,
           openDataset(options.data, *model, wholeDatasetOptions(recipe.calibration)));
    QS_TRY(model, withObservedTypes(std::move(model), *data, job));
    QS_TRY(const PlannedModel planned,
           planModel(std::move(model), std::move(recipe), stored.recipePath, &parts.timingSeconds));
    auto quantization = quantizationFromResult(stored.document, *planned.model, *planned.plan);
    if (!quantization)
        return fail(std::move(quantization).error().inFile(stored.resultPath));
    QS_TRY(parts.recipeSha256, fileSha256(stored.recipePath));
    if (!quantization->recipeSha256.empty() && parts.recipeSha256 != quantization->recipeSha256)
        warn(stored.recipePath + " was changed since " + stored.resultPath
             + " was made: its scales are used, with the changed recipe's plan");
    QS_TRY(parts.device, resolveDevice(options.device));
    QS_TRY(const ConvertedPtr converted,
           rebuild(planned, std::move(quantization->qparams), *data, parts, job));
    const Stopwatch comparing(&parts.timingSeconds, "compare");
    QS_TRY(const ComparisonPtr comparison, compareModels(*converted, *data, parts.device, job));
    comparing.stop();
    parts.model = planned.model.get();
    parts.plan = planned.plan.get();
    parts.recipe = &planned.recipe;
    parts.converted = converted.get();
    parts.observations = &quantization->observations;
    parts.comparison = comparison.get();
    parts.threads = comparison->threads;
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

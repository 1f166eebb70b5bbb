// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/input_files.h"
#include "app/commands/model/model_run.h"
#include "app/commands/model/restored_result.h"
#include "app/commands/options/device_option.h"
#include "app/commands/options/limit_options.h"
#include "app/commands/options/number_checks.h"
#include "app/commands/text/console.h"
#include "app/commands/text/train_text.h"
#include "engine/base/files/atomic_file.h"
#include "engine/base/text.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/pipeline/keys/data_identity.h"
#include "engine/pipeline/train/train_model.h"
#include "engine/result/stored_run.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>

namespace qs {

namespace {

struct TrainOptions : ModelRunOptions
{
    TrainingSettings training;
    std::string out, time;
    std::string optimizer {kOptimizerNames[0]}, loss {kLossNames[0]}, schedule {kScheduleNames[1]};
    std::string freezeBn = "0", freezeObservers = "never";
    double rate = 0;
    std::string from; ///< a result folder; "" = calibrate
    std::string guard; ///< "25%"; empty: the usual share
    bool fromScratch = false, noGuard = false, resume = false, json = false;
};

constexpr const char* kModelFile = "model.pt2";
constexpr const char* kRecipeFile = "recipe.json";
constexpr const char* kTrainingFile = "training.json";
constexpr const char* kTrainingCheckpoint = "training.partial.npz";

/// Accepts these names only.
CLI::IsMember oneOf(const OptionNames& names)
{
    return CLI::IsMember(std::vector<std::string>(names.begin(), names.end()));
}

/// Parses a number of steps, or "never".
Result<std::optional<int>> stepsOf(const std::string& option, const std::string& text)
{
    if (text == "never")
        return std::optional<int>();
    int steps = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), steps);
    if (code != std::errc() || end != text.data() + text.size() || steps < 0)
        return fail(ErrorCode::Usage,
                    option + " " + inQuotes(text) + " is not a number of steps, nor 'never'");
    return std::optional(steps);
}

/// The share of the data that is only measured.
Result<double> guardShare(const TrainOptions& options)
{
    if (options.noGuard)
        return 0;
    if (options.guard.empty())
        return options.training.guard; // the usual share
    const char* end = options.guard.data() + options.guard.size();
    double percent = 0;
    const auto [rest, code] = std::from_chars(options.guard.data(), end, percent);
    const bool isRead = code == std::errc() && (rest == end || std::string_view(rest, end) == "%");
    if (!isRead || percent / 100 < kLeastGuardShare || percent / 100 > kMostGuardShare)
        return fail(makeError(ErrorCode::Usage,
                              "--guard " + inQuotes(options.guard)
                                  + " is not a share of the data from 1% to 90%")
                        .withHint("--no-guard trains on all"));
    return percent / 100;
}

Result<TrainingSettings> settingsOf(const TrainOptions& options)
{
    TrainingSettings settings = options.training;
    if (!options.time.empty()) {
        QS_TRY(const auto time, parseDuration(options.time));
        settings.seconds = double(time.count()) / 1000;
    }
    if (options.rate > 0)
        settings.rate = options.rate;
    settings.optimizer = OptimizerKind(indexIn(kOptimizerNames, options.optimizer));
    if (settings.optimizer == OptimizerKind::Sgd && !settings.rate)
        return fail(ErrorCode::Usage, "--optimizer sgd needs --lr");
    settings.loss = TrainingLoss(indexIn(kLossNames, options.loss));
    if (settings.loss == TrainingLoss::Labels && !settings.matched.empty())
        return fail(ErrorCode::Usage, "--match is for --loss distill");
    if (settings.optimizer == OptimizerKind::Adam && settings.momentum > 0)
        return fail(ErrorCode::Usage, "--momentum is for --optimizer sgd");
    settings.decays = indexIn(kScheduleNames, options.schedule) > 0;
    QS_TRY(settings.guard, guardShare(options));
    QS_TRY(settings.freezeBatchNorms, stepsOf("--freeze-bn", options.freezeBn));
    QS_TRY(settings.freezeObservers, stepsOf("--freeze-observers", options.freezeObservers));
    return settings;
}

/// The path of a file in the folder of the training.
std::string inFolder(const TrainOptions& options, const char* name)
{
    return (std::filesystem::path(options.out) / name).string();
}

/// Writes the recipe that takes the training, and the document, into the folder.
Result<void> write(const TrainOptions& options, const Recipe& recipe, const Cure& training,
                   const std::string& document)
{
    const std::string path = inFolder(options, kRecipeFile);
    QS_CHECK(writeFileAtomically(
        path, recipeToJson(writtenBeside(withTraining(recipe, training), path))));
    return writeFileAtomically(inFolder(options, kTrainingFile), document);
}

/// The model and the decisions, with the ranges of a calibration unless from scratch.
Result<TrainRequest> requestOf(const TrainOptions& options, ModelRun& run)
{
    QS_CHECK(run.plan());
    TrainRequest request;
    request.file = run.compareRequest().edited->file;
    request.settings = run.settings();
    if (options.fromScratch) {
        request.model = run.planned().model;
        request.plan = run.planned().plan;
    } else {
        QS_CHECK(run.calibrate());
        request.start = run.calibration();
        request.model = request.start->prepared->model;
        request.plan = request.start->prepared->plan;
    }
    request.recipe = run.planned().recipe;
    return request;
}

/// The same with the decisions and ranges of a written result.
Result<TrainRequest> requestFrom(const TrainOptions& options, const StoredRun& result,
                                 StageChain& chain, const CommandRun& job)
{
    RunSettings settings;
    settings.calibrationData = options.data.empty() ? result.calibrationData : options.data;
    settings.device = options.device;
    QS_TRY(const RestoredResult restored,
           restoreResult(chain, {options.from, options.model, settings, true}, job));
    TrainRequest request;
    request.file = restored.edited->file;
    request.start = restored.calibration;
    request.model = request.start->prepared->model;
    request.plan = request.start->prepared->plan;
    request.recipe = restored.planned.recipe;
    request.recipe.calibration = result.recipe.calibration;
    request.settings = std::move(settings);
    request.from = result.folder;
    return request;
}

/// Checks that no input would be overwritten, before anything runs.
Result<void> checkOut(const TrainOptions& options, std::vector<std::string> read)
{
    read.push_back(options.model);
    return checkSpared("--out",
                       {inFolder(options, kModelFile), inFolder(options, kRecipeFile),
                        inFolder(options, kTrainingFile)},
                       read);
}

Result<TrainRequest> trainRequest(const TrainOptions& options, ModelRun& run, const CommandRun& job)
{
    if (options.from.empty()) {
        QS_CHECK(run.locate());
        QS_CHECK(checkOut(options, {run.source().model, run.settings().calibrationData}));
        return requestOf(options, run);
    }
    QS_TRY(const StoredRun result, readStoredRun(options.from, job));
    const auto folder = std::filesystem::path(result.folder);
    QS_CHECK(checkOut(
        options,
        {result.modelPath, result.calibrationData, options.data, (folder / kRecipeFile).string()}));
    return requestFrom(options, result, run.chain(), job);
}

Result<void> runTrain(const TrainOptions& options, const CommandRun& job)
{
    QS_TRY(TrainingSettings settings, settingsOf(options));
    QS_CHECK(ensureWritableFolder(options.out));
    ModelRun run(options, job);
    QS_TRY(TrainRequest request, trainRequest(options, run, job));
    request.training = std::move(settings);
    request.checkpoint = inFolder(options, kTrainingCheckpoint);
    request.resumes = options.resume;
    ContentHashes hashes;
    QS_TRY(request.dataHash,
           hashes.of(request.settings.calibrationData, request.file->info().sha256, job));
    const std::string target = inFolder(options, kRecipeFile);
    std::error_code code;
    // A training in place keeps its model and recipe until it ended, so that it can be resumed.
    request.savesOnCancel = !std::filesystem::equivalent(options.recipe, target, code);
    auto saved = run.chain().train(request, inFolder(options, kModelFile), {}, job);
    if (!saved && saved.error().code == ErrorCode::Cancelled)
        return fail(
            std::move(saved).error().withHint("repeat the command with --resume to continue"));
    QS_CHECK(saved);
    const std::string document = trainingJson(request, saved->training).dump(2) + "\n";
    QS_CHECK(write(options, request.recipe, saved->cure, document));
    QS_CHECK(printOut(options.json ? document : trainText(saved->training, target)));
    if (job.cancelled())
        return fail(
            makeError(ErrorCode::Cancelled, "the training was stopped; its best state is written")
                .withHint("repeat the command with --resume to continue"));
    return {};
}

void addDataOptions(CLI::App& verb, TrainOptions& options)
{
    verb.add_option("MODEL", options.model, "a .pt2, a TorchScript .pt or a project")->required();
    addMovedOption(verb, options.movedTo);
    CLI::Option* recipe = verb.add_option(
        "--recipe", options.recipe, "the decisions to train for; without one backend x86's own");
    verb.add_option(
        "--data", options.data,
        "a .npz, a .pt of torch.save, a folder of images or .tar shards; all of it is used; a "
        "project has its own");
    verb.add_option(
            "--out", options.out,
            "folder for recipe.json (with the training), model.pt2 (trained), training.json")
        ->required();
    CLI::Option* scratch = verb.add_flag(
        "--from-scratch", options.fromScratch,
        "take ranges from the first batch, as torch.ao's prepare_qat_fx does; without it the data "
        "are calibrated first");
    verb.add_option("--from", options.from,
                    "a result folder of this model: its recipe and its calibrated ranges; without "
                    "--data also its calibration data")
        ->excludes(recipe)
        ->excludes(scratch);
    verb.add_flag("--resume", options.resume,
                  "continue an interrupted training of the same model, recipe, data and options");
    CLI::Option* guard = verb.add_option(
        "--guard", options.guard,
        "share of the batches that are only measured (25%); they choose the best step");
    verb.add_flag("--no-guard", options.noGuard, "train on every batch; the last step is written")
        ->excludes(guard);
}

void addTrainingOptions(CLI::App& verb, TrainOptions& options)
{
    TrainingSettings& settings = options.training;
    verb.add_option("--steps", settings.steps, "steps, one batch each (300)")
        ->check(positiveNumber());
    verb.add_option("--time", options.time, "stop with the best so far after: seconds, 10m, 2h");
    verb.add_option(
            "--lr", options.rate,
            "learning rate; without it each tensor has one of its size and of the noise (adam)")
        ->check(positiveNumber());
    verb.add_option("--schedule", options.schedule,
                    "cosine (default: the rate falls to zero) or constant")
        ->check(oneOf(kScheduleNames));
    verb.add_option("--optimizer", options.optimizer, "adam (default) or sgd")
        ->check(oneOf(kOptimizerNames));
    verb.add_option("--momentum", settings.momentum, "of sgd")->check(CLI::Range(0.0, 0.999));
    verb.add_option(
            "--loss", options.loss,
            "distill (default: the float model's outputs, no labels needed) or labels (cross "
            "entropy)")
        ->check(oneOf(kLossNames));
    verb.add_option("--match", settings.matched,
                    "a node or module whose value the loss of distill compares too; may be given "
                    "several times")
        ->take_all();
    verb.add_option("--freeze-bn", options.freezeBn,
                    "steps after which batch norms use their running statistics (0), or 'never'");
    verb.add_option("--freeze-observers", options.freezeObservers,
                    "steps after which ranges stay, or 'never' (default)");
    verb.add_option("--freeze", settings.frozen,
                    "a parameter or module that is not trained; may be given several times")
        ->take_all();
    verb.add_flag("--learn-scales", settings.learnsScales,
                  "train the scales too (LSQ), from the calibration's");
    verb.add_option("--seed", settings.seed,
                    "of the order of batches; 0 (default) keeps the order of the data")
        ->check(notNegativeNumber());
}

} // namespace

void addTrainCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<TrainOptions>();
    options->trains = true;
    CLI::App* verb = app.add_subcommand(
        "train", "Trains a model with simulated quantization, and writes the trained model");
    addDataOptions(*verb, *options);
    addTrainingOptions(*verb, *options);
    addDeviceOption(*verb, options->device);
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) {
            return withModelNotes(runTrain(*options, job), options->model);
        };
    });
}

} // namespace qs

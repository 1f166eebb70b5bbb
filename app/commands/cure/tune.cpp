// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/input_files.h"
#include "app/commands/model/model_run.h"
#include "app/commands/options/device_option.h"
#include "app/commands/options/limit_options.h"
#include "app/commands/options/number_checks.h"
#include "app/commands/text/console.h"
#include "app/commands/text/tune_text.h"
#include "engine/base/files/atomic_file.h"
#include "engine/base/files/read_file.h"
#include "engine/base/text.h"
#include "engine/distribute/collectives.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/pipeline/tune/search_summary.h"
#include "engine/pipeline/tune/tune_json.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace qs {

namespace {

struct TuneOptions : ModelRunOptions
{
    std::string out, goal = "sqnr 20", time, cost = "macs";
    double keepInt8 = 80;
    std::int64_t samples = 64, seed = 0;
    int trials = 0;
    std::int64_t forwards = 0;
    std::vector<std::string> allowed, forbidden;
    bool resume = false, noGuard = false, json = false;
};

constexpr const char* kAllCures = "all"; ///< of --allow
constexpr std::uint64_t kMostOfState = 256 << 20;

/// Returns a path beside the recipe NAME.json: NAME and this end. It is absolute, as paths of a
/// recipe that was read.
std::string besideRecipe(const std::string& recipe, const char* end)
{
    const std::filesystem::path path = std::filesystem::absolute(recipe);
    return (path.parent_path() / path.stem()).string() + end;
}

std::string trainedPath(const std::string& recipe)
{
    return besideRecipe(recipe, ".trained.pt2");
}

Result<std::set<CureKind>> allowedOf(const std::vector<std::string>& names)
{
    std::set<CureKind> kinds;
    for (const std::string& name : names) {
        for (const std::string& one : name == kAllCures ? cureKindNames() : std::vector {name}) {
            QS_TRY(const CureKind kind, parseCureKind(one));
            kinds.insert(kind);
        }
    }
    return kinds;
}

/// Fails, before anything runs, if one of the files cannot be written.
Result<void> checkPlaces(const std::vector<std::string>& places)
{
    for (const std::string& path : places) {
        std::error_code code;
        if (const auto status = std::filesystem::status(path, code); std::filesystem::exists(status)
            && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status))
            return fail(makeError(ErrorCode::Io,
                                  "is not a regular file: a search writes it after each trial")
                            .inFile(path)
                            .withHint("choose another file"));
        QS_CHECK(AtomicFile::create(path));
    }
    return {};
}

/// The state of an earlier search, to resume it; "" without one, and on other ranks than the first.
Result<std::string> earlierText(const TuneOptions& options, const Group& group)
{
    const std::string path = searchPath(options.out);
    std::error_code code;
    const bool isThere = std::filesystem::exists(path, code) || code;
    // What the launcher starts again continues.
    if (!group.isFirst() || !(options.resume || (group.isRestarted() && isThere)))
        return std::string();
    if (!isThere)
        return fail(
            makeError(ErrorCode::NotFound, "no stopped search to resume")
                .inFile(path)
                .withHint(
                    "search without --resume, or name the recipe of the search that was stopped"));
    return readWholeFile(path, kMostOfState);
}

Result<EarlierSearch> earlierSearch(const TuneOptions& options, const TuneRequest& request,
                                    const CommandRun& job)
{
    Group& group = *job.group();
    QS_TRY(std::string text, earlierText(options, group));
    QS_TRY(text, broadcast(group, group.newName("earlier"), std::move(text), job));
    if (text.empty())
        return EarlierSearch();
    auto earlier = readSearch(text, request);
    if (!earlier && !options.resume) // a file that is older than the launcher's first attempt
        return EarlierSearch();
    if (!earlier)
        return fail(std::move(earlier).error().inFile(searchPath(options.out)));
    return earlier;
}

/// Sets the goal, and for a goal on the user's metric the command that measures it.
Result<void> setGoal(const TuneOptions& options, TuneRequest& request, const JobContext& job)
{
    QS_TRY(request.goal, parseGoal(options.goal));
    const bool isMetric = request.goal.kind == TuneGoal::Kind::Metric;
    if (isMetric == options.eval.empty())
        return fail(makeError(ErrorCode::Usage,
                              isMetric ? "the goal " + inQuotes(options.goal) + " needs --eval CMD"
                                       : "--eval is for a goal 'metric NUMBER'"));
    if (isMetric) {
        QS_TRY(request.metricText, metricIdentity(options.eval, job));
        request.metric = commandMetric(options.eval);
    }
    return {};
}

Result<TuneRequest> requestOf(const TuneOptions& options, ModelRun& run, const CommandRun& job)
{
    TuneRequest request;
    QS_CHECK(setGoal(options, request, job));
    for (const std::string& text : options.forbidden) {
        QS_TRY(ForbiddenCure forbidden, parseForbidden(text));
        request.forbidden.push_back(std::move(forbidden));
    }
    QS_TRY(request.allowed, allowedOf(options.allowed));
    if (request.allowed.contains(CureKind::Train) && !job.group()->isAlone())
        return fail(makeError(ErrorCode::Usage, "a training runs in one process")
                        .withHint("search without --allow train, or without torchrun"));
    if (!options.time.empty()) {
        QS_TRY(const auto time, parseDuration(options.time));
        request.seconds = double(time.count()) / 1000;
    }
    if (options.trials > 0)
        request.trials = options.trials;
    if (options.forwards > 0)
        request.forwards = options.forwards;
    std::vector<std::string> places {options.out, searchPath(options.out)};
    if (request.allowed.contains(CureKind::Train))
        places.push_back(trainedPath(options.out));
    if (job.group()->isFirst())
        QS_CHECK(checkPlaces(places));
    QS_CHECK(run.locate());
    std::vector<std::string> read {options.model, options.recipe, run.source().model,
                                   run.settings().calibrationData, run.settings().compared()};
    if (const Cure* training = trainingOf(run.source().recipe))
        read.push_back(training->file);
    QS_CHECK(checkSpared("--out", places, read));
    QS_CHECK(run.plan());
    request.trainedFile = trainedPath(options.out);
    request.file = run.compareRequest().edited->file;
    request.recipe = run.planned().recipe;
    request.settings = run.settings();
    request.keepInt8 = options.keepInt8 / 100;
    request.samples = options.samples;
    request.seed = std::uint64_t(options.seed);
    request.cost = options.cost == "ms" ? TuneCost::Ms : TuneCost::Macs;
    request.needsGuard = !options.noGuard;
    request.numbers = besideRecipe(options.out, ".cures");
    QS_TRY(request.data, dataContent(request, job));
    return request;
}

/// Writes the best recipe so far and the state of the search.
Result<void> keep(const TuneOptions& options, const TuneRequest& request, const TuneState& state,
                  const KnownTrials& known)
{
    if (!state.trials.empty()) {
        const Recipe best = takenRecipe(request, state, state.best);
        QS_CHECK(writeFileAtomically(options.out, recipeToJson(writtenBeside(best, options.out))));
    }
    return writeFileAtomically(searchPath(options.out), tuneJson(request, state, known));
}

/// Removes the numbers that the search wrote and its best recipe does not use.
void dropUnusedNumbers(const TuneRequest& request, const TuneState& state)
{
    std::set<std::string> unused;
    for (const Trial& trial : state.trials)
        for (const Cure& cure : trial.cures)
            if (std::filesystem::path(cure.file).parent_path() == request.numbers)
                unused.insert(cure.file);
    for (const Cure& cure : state.trials.at(state.best).cures)
        unused.erase(cure.file);
    std::error_code code;
    for (const std::string& file : unused)
        std::filesystem::remove(file, code);
    std::filesystem::remove(request.numbers, code); // if it is empty
}

Result<void> runTune(const TuneOptions& options, const CommandRun& job)
{
    ModelRun run(options, job);
    QS_TRY(TuneRequest request, requestOf(options, run, job));
    QS_TRY(EarlierSearch earlier, earlierSearch(options, request, job));
    request.times = std::move(earlier.times);
    const KnownTrials& known = earlier.trials;
    bool isKept = false;
    const auto see = [&](const TuneState& state) -> Result<void> {
        if (!job.group()->isFirst())
            return {};
        QS_CHECK(keep(options, request, state, known));
        isKept = true;
        return {};
    };
    auto made = run.chain().tune(request, known, see, job);
    if (!made && isKept && made.error().code == ErrorCode::Cancelled)
        return fail(
            std::move(made).error().withHint("repeat the command with --resume to continue"));
    QS_TRY(const TuneState state, std::move(made));
    dropUnusedNumbers(request, state);
    if (!job.group()->isFirst())
        return {};
    QS_CHECK(printOut(options.json ? tuneJson(request, state, known) : tuneText(request, state)));
    if (!state.isReached())
        return fail(makeError(ErrorCode::Numeric,
                              "the goal '" + goalText(request.goal)
                                  + "' was not reached; the best recipe is written")
                        .inFile(options.out));
    return {};
}

} // namespace

void addTuneCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<TuneOptions>();
    CLI::App* verb = app.add_subcommand(
        "tune", "Searches cures that bring a model to a goal, and writes the recipe");
    verb->add_option("MODEL", options->model, "a .pt2, a TorchScript .pt or a project")->required();
    addMovedOption(*verb, options->movedTo);
    verb->add_option("--recipe", options->recipe,
                     "the decisions to start from; without one backend x86's own");
    verb->add_option(
        "--data", options->data,
        "a .npz, a .pt of torch.save, a folder of images, .tar shards, or 'sample'; a project has "
        "its own");
    verb->add_option("--compare-on", options->compareOn,
                     "data to measure on; without them a project's own, else those of --data");
    verb->add_option("--out", options->out,
                     "the recipe to write; the search's state is kept beside it")
        ->required();
    verb->add_option("--goal", options->goal,
                     "'sqnr 20' (dB of the worst output), 'cosine 0.98', 'top1-drop 0.5', or "
                     "'metric 0.81' with --eval");
    verb->add_option("--eval", options->eval,
                     "a command that gets outputs as an .npz and prints one number, the higher the "
                     "better");
    verb->add_option("--keep-int8", options->keepInt8,
                     "least share of the multiplications that stay in int8, in percent")
        ->check(CLI::Range(0.0, 100.0));
    verb->add_option("--cost", options->cost,
                     "what float operators should cost least of: macs (multiplications) or ms "
                     "(time, measured on this processor)")
        ->check(CLI::IsMember({"macs", "ms"}));
    verb->add_option("--allow", options->allowed,
                     "kinds of cures: range, float, float_result, bound, dynamic, split, equalize, "
                     "smooth, round, bias, train, or all; without it all but train")
        ->delimiter(',');
    verb->add_option("--forbid", options->forbidden,
                     "a cure to exclude: float@add_6; may be given several times")
        ->take_all();
    verb->add_option("--time", options->time, "stop with the best so far after: seconds, 10m, 2h");
    verb->add_option("--trials", options->trials, "stop with the best so far after so many trials")
        ->check(positiveNumber());
    verb->add_option("--forwards", options->forwards,
                     "stop with the best so far after about so many forward passes over the "
                     "searched samples; a look at the causes counts four")
        ->check(positiveNumber());
    verb->add_option("--samples", options->samples,
                     "how many samples are searched on; a quarter is kept as guard")
        ->check(positiveNumber());
    verb->add_option("--seed", options->seed, "of the probes")->check(notNegativeNumber());
    verb->add_flag("--no-guard", options->noGuard,
                   "search on data that leave no sample to hold the result to");
    verb->add_flag("--resume", options->resume,
                   "take over what an interrupted search of the same kind measured");
    addDeviceOption(*verb, options->device);
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) {
            return withModelNotes(runTune(*options, job), options->model);
        };
    });
}

} // namespace qs

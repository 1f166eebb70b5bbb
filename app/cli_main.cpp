// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/job_watch.h"
#include "app/commands/options/extension_option.h"
#include "app/commands/options/limit_options.h"
#include "app/commands/options/model_verbs.h"
#include "app/commands/options/outside_option.h"
#include "app/commands/ranks.h"
#include "app/commands/text/console.h"
#include "engine/base/json/nearest_name.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/base/plain_cause.h"
#include "engine/base/process/system.h"
#include "engine/base/text.h"
#include "engine/import/archive/export_record.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <stop_token>

namespace {

constexpr int kDone = 0;
constexpr int kBad = 1;
constexpr int kUsage = 2;

bool runsModels(int argc, char** argv)
{
    const std::string verb = argc > 1 ? argv[1] : "";
    return verb == "quantize" || verb == "compare" || verb == "look" || verb == "why"
        || verb == "tune" || verb == "verify" || verb == "doctor";
}

/// Runs before the constructors of the libraries.
void runFirst(int argc, char** argv, char** environment)
{
    if (runsModels(argc, argv))
        qs::restartWithPassiveThreads(argv, environment);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kFirst)(int, char**, char**) = runFirst;

int report(const qs::Error& error, const qs::ModelWords& words = {}, const std::string& rank = {})
{
    qs::clearProgress();
    std::fprintf(stderr, "quantscope: %s%s\n", rank.c_str(), words.named(error.line()).c_str());
    return error.code == qs::ErrorCode::Usage ? kUsage : kBad;
}

/// Prints CLI11's message as one line; returns the exit code.
int usageError(const CLI::ParseError& error)
{
    std::fprintf(stderr, "quantscope: %s; see 'quantscope --help'\n",
                 qs::asOneLine(error.what()).c_str());
    return kUsage;
}

std::vector<std::string> verbNames(const CLI::App& app)
{
    std::vector<std::string> names;
    for (const CLI::App* verb : app.get_subcommands({}))
        names.push_back(verb->get_name());
    return names;
}

int unknownVerb(const std::string& word, const std::vector<std::string>& verbs)
{
    std::fprintf(stderr, "quantscope: there is no verb '%s'; %s\n", qs::asOneLine(word).c_str(),
                 qs::suggestName(word, verbs).c_str());
    return kUsage;
}

/// Options that many verbs share.
struct SharedOptions
{
    std::vector<std::string> extensions;
    qs::RunLimits limits;
    bool outside = false;
    bool isShared = false; ///< the verb is one of `kRankVerbs`
};

/// Runs the command; an exception is its error, so that other ranks learn of it.
qs::Result<void> runShared(const qs::Command& command, const SharedOptions& options,
                           qs::NoteHolder& notes, const qs::CommandRun& run)
{
    try {
        QS_CHECK(qs::loadExtensions(options.extensions, run));
        QS_CHECK(command(run));
        return qs::gatherNotes(*run.group(), notes, run);
    } catch (const std::exception& error) {
        return qs::fail(qs::ErrorCode::Internal, qs::plainCause(error.what()));
    }
}

int runCommand(const qs::Command& command, const SharedOptions& options)
{
    qs::ModelWords words;
    qs::NoteHolder notes(words);
    std::stop_source stop;
    qs::JobWatch watch(stop, options.limits.time);
    qs::setMemoryLimit(options.limits.bytes);
    const auto job = [&](const std::shared_ptr<qs::Group>& group) {
        const qs::JobContext::Sink seen = [&watch](const qs::Progress& at) { watch.progress(at); };
        return qs::JobContext(stop.get_token(),
                              !group || group->isFirst() ? seen : qs::JobContext::Sink());
    };
    const auto group = options.isShared
        ? qs::joinRanks(options.limits.rankTime, stop, job(nullptr))
        : qs::Result<std::shared_ptr<qs::Group>>(qs::singleProcess());
    if (!group)
        return report(watch.told(group.error()), words);
    if (!(*group)->isFirst())
        notes.holdAll();
    const qs::CommandRun run(job(*group), options.outside, words, *group);
    const auto done = runShared(command, options, notes, run);
    if (!done)
        return report(qs::failRank(**group, watch.told(done.error())), words,
                      qs::rankText(**group));
    if (!(*group)->isFirst())
        return kDone;
    qs::clearProgress();
    notes.release();
    return kDone;
}

/// Rejects empty values: they come from unset shell variables.
void refuseEmptyWords(CLI::App& app)
{
    for (CLI::App* verb : app.get_subcommands({}))
        refuseEmptyWords(*verb);
    for (CLI::Option* option : app.get_options({}))
        option->check(
            [](const std::string& word) {
                return word.empty() ? "the word given is empty; give one or leave the option out"
                                    : std::string();
            },
            "");
}

int runProgram(int argc, char** argv)
{
    CLI::App app("Quantscope: opens a traced PyTorch model, decides node by node how it is "
                 "quantized, shows what every layer loses, exports int8.",
                 "quantscope");
    app.set_version_flag("--version",
                         "quantscope " QUANTSCOPE_VERSION ", LibTorch " + qs::ownTorchVersion());
    app.require_subcommand(1);
    qs::Command chosen;
    for (const auto add : {qs::addExportCommand,     qs::addInspectCommand,  qs::addRecipeCommand,
                           qs::addPlanCommand,       qs::addEditCommand,     qs::addQuantizeCommand,
                           qs::addCompareCommand,    qs::addDiffCommand,     qs::addRunsCommand,
                           qs::addLookCommand,       qs::addWhyCommand,      qs::addTuneCommand,
                           qs::addTrainCommand,      qs::addVerifyCommand,   qs::addCheckCommand,
                           qs::addReportCommand,     qs::addBackendsCommand, qs::addKeysCommand,
                           qs::addExtensionsCommand, qs::addDoctorCommand,   qs::addDescribeCommand,
                           qs::addUiCommand})
        add(app, chosen);
    SharedOptions options;
    qs::addExtensionOption(app, options.extensions);
    qs::addLimitOptions(app, options.limits);
    qs::addOutsideOption(app, options.outside);
    refuseEmptyWords(app);
    const std::vector<std::string> verbs = verbNames(app);
    const std::string verb = argc > 1 ? argv[1] : "-";
    if (!verb.starts_with('-') && std::find(verbs.begin(), verbs.end(), verb) == verbs.end())
        return unknownVerb(verb, verbs);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0)
            return app.exit(error);
        return usageError(error);
    }
    options.isShared
        = std::find(qs::kRankVerbs.begin(), qs::kRankVerbs.end(), verb) != qs::kRankVerbs.end();
    if (std::find(qs::kAloneVerbs.begin(), qs::kAloneVerbs.end(), verb) != qs::kAloneVerbs.end())
        if (const auto allowed = qs::refuseRanks(verb); !allowed)
            return report(allowed.error());
    return runCommand(chosen, options);
}

} // namespace

int main(int argc, char** argv)
{
    qs::beginProcess();
    int code = kBad;
    try {
        code = runProgram(argc, argv);
    } catch (const std::exception& error) {
        report(qs::makeError(qs::ErrorCode::Internal, qs::plainCause(error.what())));
    }
    qs::endProcess(code);
}

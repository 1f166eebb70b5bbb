// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/job_watch.h"
#include "app/commands/options/extension_option.h"
#include "app/commands/options/limit_options.h"
#include "app/commands/options/outside_option.h"
#include "app/commands/text/console.h"
#include "engine/base/memory/freed_memory.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/base/plain_cause.h"
#include "engine/base/process/crash_line.h"
#include "engine/base/process/system.h"
#include "engine/base/text.h"
#include "engine/configure/nearest_name.h"
#include "engine/import/archive/export_record.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <stop_token>

namespace {

constexpr int kDone = 0;
constexpr int kBad = 1;
constexpr int kUsage = 2;

bool runsModels(int argc, char** argv)
{
    const std::string verb = argc > 1 ? argv[1] : "";
    return verb == "quantize" || verb == "compare" || verb == "look" || verb == "verify"
        || verb == "doctor";
}

int report(const qs::Error& error)
{
    qs::clearProgress();
    std::fprintf(stderr, "quantscope: %s\n", error.line().c_str());
    return error.code == qs::ErrorCode::Usage ? kUsage : kBad;
}

/// CLI11's message as our one line.
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

int runCommand(const qs::Command& command, const std::vector<std::string>& extensions,
               const qs::RunLimits& limits)
{
    qs::NoteHolder notes;
    std::stop_source stop;
    qs::JobWatch watch(stop, limits.time);
    qs::setMemoryLimit(limits.bytes);
    const qs::JobContext job(stop.get_token(),
                             [&watch](const qs::Progress& at) { watch.progress(at); });
    auto done = qs::loadExtensions(extensions, job);
    if (done)
        done = command(job);
    if (!done)
        return report(watch.told(done.error()));
    qs::clearProgress();
    notes.release();
    return kDone;
}

/// An empty word is what a shell makes of a variable that is not set, never a choice.
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
    for (const auto add :
         {qs::addExportCommand, qs::addInspectCommand, qs::addRecipeCommand, qs::addPlanCommand,
          qs::addEditCommand, qs::addQuantizeCommand, qs::addCompareCommand, qs::addDiffCommand,
          qs::addRunsCommand, qs::addLookCommand, qs::addVerifyCommand, qs::addCheckCommand,
          qs::addReportCommand, qs::addBackendsCommand, qs::addKeysCommand,
          qs::addExtensionsCommand, qs::addDoctorCommand, qs::addDescribeCommand, qs::addUiCommand})
        add(app, chosen);
    std::vector<std::string> extensions;
    qs::addExtensionOption(app, extensions);
    qs::RunLimits limits;
    qs::addLimitOptions(app, limits);
    qs::addOutsideOption(app);
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
    return runCommand(chosen, extensions, limits);
}

} // namespace

int main(int argc, char** argv)
{
    std::signal(SIGXFSZ, SIG_IGN); // a file beyond the shell's limit is an error of its write
    qs::tellCrashes();
    if (runsModels(argc, argv))
        qs::restartWithPassiveThreads(argv);
    qs::keepFreedMemory();
    try {
        return runProgram(argc, argv);
    } catch (const std::exception& error) {
        return report(qs::makeError(qs::ErrorCode::Internal, qs::plainCause(error.what())));
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/limit_options.h"

#include "app/commands/options/model_verbs.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/base/text.h"

#include <CLI/CLI.hpp>
#include <charconv>

namespace qs {

namespace {

/// Maximum time: a year.
constexpr double kMostSeconds = 366.0 * 24 * 3600;

void addTimeOption(CLI::App& verb, const std::string& name, std::chrono::milliseconds& time,
                   const std::string& text)
{
    verb.add_option_function<std::string>(
            name,
            [&time, name](const std::string& word) {
                const auto given = parseDuration(word);
                if (!given)
                    throw CLI::ValidationError(name, given.error().message);
                time = *given;
            },
            text)
        ->type_name("TIME");
}

} // namespace

Result<std::chrono::milliseconds> parseDuration(std::string_view text)
{
    const auto refused = [&] {
        return fail(ErrorCode::Usage,
                    inQuotes(std::string(text)) + " is not a time: give seconds, or 10m, or 2h");
    };
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc())
        return refused();
    const std::string_view unit = text.substr(std::size_t(end - text.data()));
    const double factor = unit.empty() || unit == "s" ? 1
        : unit == "m"                                 ? 60
        : unit == "h"                                 ? 3600
                                                      : 0;
    const double seconds = number * factor;
    if (!(seconds >= 0.001 && seconds <= kMostSeconds)) // NaN too
        return refused();
    return std::chrono::milliseconds(std::int64_t(seconds * 1000));
}

void addLimitOptions(CLI::App& app, RunLimits& limits)
{
    for (const char* verb : kModelVerbs) {
        CLI::App* command = app.get_subcommand(verb);
        const bool keepsBest
            = std::string_view(verb) == "tune" || std::string_view(verb) == "train";
        addTimeOption(*command, "--timeout", limits.time,
                      std::string("time limit (seconds, 10m, 2h); exit code 1 at its end, ")
                          + (keepsBest ? "with the best so far" : "without partial results"));
        command
            ->add_option_function<std::string>(
                "--memory",
                [&limits](const std::string& word) {
                    const auto bytes = parseBytes(word);
                    if (!bytes)
                        throw CLI::ValidationError(
                            "--memory",
                            inQuotes(word) + " is not an amount of memory: give 4G, or 512M");
                    limits.bytes = *bytes;
                },
                "memory limit (4G, 512M): batches become smaller to fit; a run that "
                "cannot fit is refused")
            ->type_name("SIZE");
    }
    for (const char* verb : kRankVerbs)
        addTimeOption(*app.get_subcommand(verb), "--rank-timeout", limits.rankTime,
                      "under torchrun: how long a rank waits for another one (10m)");
}

} // namespace qs

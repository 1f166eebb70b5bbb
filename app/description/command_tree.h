// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace qs {

/// An option or positional argument of a command, as in its `--help`.
struct DescribedOption
{
    std::vector<std::string> names; ///< "-h", "--help"; of a positional: its name
    std::string text;
    std::string type; ///< "TEXT", "INT", ...; "" = a flag
    std::vector<std::string> choices; ///< the accepted values, if limited
    bool required = false;
};

/// A command with its arguments and subcommands. A value.
struct DescribedCommand
{
    std::string name, text;
    std::vector<DescribedOption> positionals, options;
    std::vector<DescribedCommand> commands;
};

/// Returns the description of the parser's command line; options without a group are hidden, as in
/// `--help`.
DescribedCommand describedCommand(const CLI::App& app);

/// Returns a man page (section 1) with all verbs and options. Deterministic.
std::string manPage(const DescribedCommand& program, const std::string& version);

/// Returns the shells that `shellCompletion` supports.
std::vector<std::string> completedShells();
/// Returns the script with which the shell completes verbs, options and choices, and other words as
/// files. `shell` must be one of `completedShells`.
std::string shellCompletion(const DescribedCommand& program, const std::string& shell);

} // namespace qs

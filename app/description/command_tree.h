// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace qs {

/// One word that a command takes, as its own `--help` describes it.
struct DescribedOption
{
    std::vector<std::string> names; ///< "-h", "--help"; of a positional its one name
    std::string text;
    std::string type; ///< "TEXT", "INT", ...; "" = a flag
    std::vector<std::string> choices; ///< the accepted values, if limited
    bool required = false;
};

/// A command with all that may follow it. A value.
struct DescribedCommand
{
    std::string name, text;
    std::vector<DescribedOption> positionals, options;
    std::vector<DescribedCommand> commands;
};

/// The command line as its parser knows it; options without a group are hidden there and here.
DescribedCommand describedCommand(const CLI::App& app);

/// A page in man's macros, section 1: all verbs and all options. Same command, same bytes.
std::string manPage(const DescribedCommand& program, const std::string& version);

/// The shells that `shellCompletion` knows.
std::vector<std::string> completedShells();
/// The script by which that shell completes verbs, options and choices; other words as files.
/// `shell` must be one of `completedShells`.
std::string shellCompletion(const DescribedCommand& program, const std::string& shell);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/command_run.h"
#include "engine/project/outside_paths.h"

namespace CLI {
class App;
}

namespace qs {

/// Adds `--outside` to the verbs that read recipes and projects: permission, for this run, to read
/// files outside their folders. Call once, after the verbs are added. Sets `given` if the user
/// gives the option.
void addOutsideOption(CLI::App& app, bool& given);

/// Fails (BadInput) for the recipe or project `file` if `outside`, its `pathsOutside`, has a path
/// that this user has not confirmed, unless `--outside` is given.
Result<void> checkOutside(const std::string& file, std::vector<std::string> outside,
                          const CommandRun& job);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/command_run.h"
#include "engine/project/outside_paths.h"

namespace CLI {
class App;
}

namespace qs {

/// `--outside` of the verbs that read recipes and projects: the user's word, for this run, that
/// they may have files read which lie outside their folders. To be called once, after the verbs are
/// there; `given` becomes true where one has it.
void addOutsideOption(CLI::App& app, bool& given);

/// Refuses (BadInput) the recipe or project `file` where `outside`, its `pathsOutside`, holds what
/// this user has not confirmed, unless `--outside` is given.
Result<void> checkOutside(const std::string& file, std::vector<std::string> outside,
                          const CommandRun& job);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/command.h"

#include <string>
#include <vector>

namespace qs {

/// Adds `--extension DIR` to every verb that opens a model or a backend. Call when all verbs are
/// there.
void addExtensionOption(CLI::App& app, std::vector<std::string>& folders);

/// Loads the packs that the words name, in their order, before the verb runs.
Result<void> loadExtensions(const std::vector<std::string>& folders, const JobContext& job);

} // namespace qs

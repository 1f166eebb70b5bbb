// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/command.h"

#include <string>
#include <vector>

namespace qs {

inline constexpr const char* kExtensionHelp
    = "the folder of an extension pack, whose operators and kernels are needed; its code runs in "
      "this program; may be given again";

/// Adds `--extension DIR` to every verb that opens a model or a backend. Call after all verbs are
/// added.
void addExtensionOption(CLI::App& app, std::vector<std::string>& folders);

/// Loads the packs in these folders, in their order. Call before the verb runs.
Result<void> loadExtensions(const std::vector<std::string>& folders, const JobContext& job);

} // namespace qs

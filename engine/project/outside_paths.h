// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/project/project.h"

#include <string>
#include <vector>

namespace qs {

/// Absolute paths of the files outside the folder of `file` that its recipe reads: a backend,
/// constants of edits. Resolves links; lists each path once; leaves out files that do not exist.
std::vector<std::string> pathsOutside(const Recipe& recipe, const std::string& file);
/// The same for a project: its model, its data, its results, and all recipes that it holds.
std::vector<std::string> pathsOutside(const Project& project, const std::string& file);

/// Those of `paths` that this user has not confirmed for `file` on this machine (`confirmPaths`).
std::vector<std::string> unconfirmedPaths(const std::string& file, std::vector<std::string> paths);
/// Confirms that these paths may be read on behalf of `file`. Stored in the user's settings, for
/// window and command line, never in the file itself. Errors: those of writing the settings.
Result<void> confirmPaths(const std::string& file, const std::vector<std::string>& paths);

} // namespace qs

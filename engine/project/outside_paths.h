// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/project/project.h"

#include <string>
#include <vector>

namespace qs {

/// The files that a recipe would have read from outside the folder that it lies in: a backend's,
/// the constants of its edits. Links are followed. Absolute, each once; those that do not exist are
/// left out.
std::vector<std::string> pathsOutside(const Recipe& recipe, const std::string& file);
/// The same of a project: its model, its data, its results, all recipes that it holds.
std::vector<std::string> pathsOutside(const Project& project, const std::string& file);

/// Those of them that this user has not confirmed for that file on this machine (`confirmPaths`).
std::vector<std::string> unconfirmedPaths(const std::string& file, std::vector<std::string> paths);
/// Confirms that the file may have these read. Kept in the user's own settings, for window and
/// command line alike, never in the file itself. Errors: the disk's.
Result<void> confirmPaths(const std::string& file, const std::vector<std::string>& paths);

} // namespace qs

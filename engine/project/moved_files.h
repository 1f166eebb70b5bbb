// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/pipeline/run_settings.h"
#include "engine/project/project.h"

namespace qs {

/// The current place of a project's model: its path if it still exists; else a file beside the
/// project or up to two folders below it, of the model's name, or of any name but the model's
/// content (if the project knows it). Empty if not found. Searches files of the model's ending
/// only, a few hundred at most; reads up to 2 GB of them. Errors: Cancelled.
Result<std::string> findModel(const Project& project, const std::string& projectPath,
                              const JobContext& job);

/// The same for data, which are known by their name alone. "sample" and "" are what they are.
std::string findData(const std::string& path, const std::string& projectPath);

/// Settings of the project's runs: its data at their current place (`findData`), or at the recorded
/// one if not found.
RunSettings settingsOf(const Project& project, const std::string& projectPath);

/// Whether the file is the project's model by content; true where the project does not know it.
/// Reads the whole of it. Errors: those of reading it; Cancelled.
Result<bool> isModelOf(const Project& project, const std::string& path, const JobContext& job);

} // namespace qs

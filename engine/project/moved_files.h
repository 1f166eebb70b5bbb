// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/pipeline/run_settings.h"
#include "engine/project/project.h"

namespace qs {

/// The current path of a project's model: the recorded path if it still exists; else a file beside
/// the project or up to two folders below it that has the model's name or, if the project records a
/// hash, the model's content. Empty if not found. Searches at most a few hundred files with the
/// model's extension and reads at most 2 GiB of them. Errors: Cancelled.
Result<std::string> findModel(const Project& project, const std::string& projectPath,
                              const JobContext& job);

/// The current path of a project's data, searched by name only. "sample" and "" are returned
/// unchanged.
std::string findData(const std::string& path, const std::string& projectPath);

/// Settings of the project's runs: its data at their current place (`findData`), or at the recorded
/// one if not found.
RunSettings settingsOf(const Project& project, const std::string& projectPath);

/// Whether the file has the content of the project's model; true if the project records no hash.
/// Reads the whole file. Errors: those of reading the file; Cancelled.
Result<bool> isModelOf(const Project& project, const std::string& path, const JobContext& job);

} // namespace qs

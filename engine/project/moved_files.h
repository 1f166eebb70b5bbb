// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/pipeline/run_settings.h"
#include "engine/project/project.h"

namespace qs {

/// Where a project's model is by now: its path where that still is; else a file beside the project
/// or up to two folders below it, of the model's name, or of any name but the model's content
/// (where the project knows it). Empty where there is none. Looks at files of the model's ending
/// alone, a few hundred at most; reads up to 2 GB of them. Errors: Cancelled.
Result<std::string> findModel(const Project& project, const std::string& projectPath,
                              const JobContext& job);

/// The same for data, which are known by their name alone. "sample" and "" are what they are.
std::string findData(const std::string& path, const std::string& projectPath);

/// What the project's runs use: its data where they are by now (`findData`), or where they were if
/// they are nowhere.
RunSettings settingsOf(const Project& project, const std::string& projectPath);

/// Whether the file is the project's model by content; true where the project does not know it.
/// Reads the whole of it. Errors: those of reading it; Cancelled.
Result<bool> isModelOf(const Project& project, const std::string& path, const JobContext& job);

} // namespace qs

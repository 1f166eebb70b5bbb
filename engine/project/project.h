// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/project/decision_history.h"

#include <string>

namespace qs {

/// A saved piece of work: which model, every decision, which data, and how the window stood. A
/// value. Model and data paths are kept relative to the project file where they lie beside or below
/// it, so that a folder can be moved.
struct Project
{
    std::string modelPath; ///< absolute once read
    std::string modelSha256; ///< of the model when it was saved; "" = not known
    std::string dataPath; ///< calibration data, or ""
    std::string comparisonPath; ///< data to compare on; "" = those of the calibration
    std::string device = "auto";
    bool againstOriginal = false; ///< `RunSettings::againstOriginal`
    std::string resultFolder; ///< of the results that belong to these decisions, or ""
    Recipe recipe;
    std::string windowState = "{}"; ///< JSON object text, the window's own
    DecisionHistory history; ///< around `recipe`, or empty
    friend bool operator==(const Project&, const Project&) = default;
};

/// Reads a project file. Errors (BadInput) name the file and the key; a newer major version is
/// refused. A history that cannot be read is left out, with a warning.
Result<Project> readProject(const std::string& path);
/// Writes by atomic rename; of a long history the part within `HistoryLimits`.
Result<void> writeProject(const Project& project, const std::string& path);
/// True when the file's first bytes are those of a project, so that one argument may be a model or
/// a project.
bool isProjectFile(const std::string& path);
/// The folder in which a project keeps its runs: "net.project.json" has "net.project.runs" beside
/// it.
std::string runsFolderOf(const std::string& projectPath);

} // namespace qs

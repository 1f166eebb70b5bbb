// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/project/decision_history.h"

#include <string>

namespace qs {

/// A saved project: model, decisions, data and window state. A value. The file stores paths beside
/// or below it relative to it, so that its folder can be moved.
struct Project
{
    std::string modelPath; ///< absolute after reading
    std::string modelSha256; ///< of the model when it was saved; "" = not known
    std::string dataPath; ///< calibration data, or ""
    std::string comparisonPath; ///< data to compare on; "" = those of the calibration
    std::string device = "auto";
    bool againstOriginal = false; ///< `RunSettings::againstOriginal`
    bool allLocalTerms = false; ///< `RunSettings::allLocalTerms`
    std::string resultFolder; ///< folder of the results of these decisions, or ""
    Recipe recipe;
    std::string windowState = "{}"; ///< text of a JSON object, defined by the window
    DecisionHistory history; ///< around `recipe`, or empty
    friend bool operator==(const Project&, const Project&) = default;
};

/// Reads a project file. Errors (BadInput) name the file and the key; a newer major version is
/// refused. A history that cannot be read is left out, with a warning.
Result<Project> readProject(const std::string& path);
/// Writes by atomic rename. Writes only the part of the history within `HistoryLimits`.
Result<void> writeProject(const Project& project, const std::string& path);
/// True when the file's first bytes are those of a project, so that one argument may be a model or
/// a project.
bool isProjectFile(const std::string& path);
/// The folder in which a project keeps its runs: "net.project.json" has "net.project.runs" beside
/// it.
std::string runsFolderOf(const std::string& projectPath);

} // namespace qs

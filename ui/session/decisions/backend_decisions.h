// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/backend_config.h"
#include "engine/plan/plan.h"
#endif

#include <QString>

#include <optional>

namespace qs {

class OpenedFiles;
struct Recipe;
class Workspace;

/// Returns the displayed name of the backend: its name or that of its file.
QString backendTitle(const Recipe& recipe);

/// One line on the purpose of a backend, from its file; empty if it cannot be read.
QString backendPurpose(const std::string& nameOrPath);

/// The folder for a backend's file: the project's, else the model's.
QString backendFolder(const Workspace& workspace, const OpenedFiles& files);

/// The recipe's backend for editing: a shipped backend becomes a copy with a new name.
Result<Backend> editedBackend(const Recipe& recipe);

/// Returns a path in the folder, named after the backend. No file with other content exists there.
QString backendFileIn(const QString& folder, const Backend& backend);

/// Writes the backend to the file and names it in the recipe, as one undoable step. Refuses an
/// existing file with other content, so that undo finds the earlier backend. Errors
/// name the file.
Result<void> useBackend(Workspace& workspace, const QString& text, const Backend& backend,
                        const QString& path);

/// The missing entries of a backend for a node: a fusion, its partner entry, or both.
struct MissingFusion
{
    std::vector<std::string> pattern; ///< the operators it would fuse
    bool isPartnerAlone = false; ///< the fusion exists, but its partner stays float
    Backend backend; ///< with the missing entries
};
/// Finds them under the document's plan. Empty if no shipped backend has such a fusion, or if the
/// node is float for another reason.
std::optional<MissingFusion> missingFusion(const Workspace& workspace, NodeId node);

/// "Conv2d, BatchNorm2d, ReLU"
QString shortPattern(const std::vector<std::string>& pattern);

} // namespace qs

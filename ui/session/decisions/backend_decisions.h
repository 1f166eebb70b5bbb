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

/// The backend as views call it: its name, or its file's.
QString backendTitle(const Recipe& recipe);

/// One line on what a backend is for, as its file says; empty where it cannot be read.
QString backendPurpose(const std::string& nameOrPath);

/// Where a backend's file goes: the project's folder, else the model's.
QString backendFolder(const Workspace& workspace, const OpenedFiles& files);

/// The recipe's backend for editing: a shipped backend becomes a copy with a new name.
Result<Backend> editedBackend(const Recipe& recipe);

/// A file of that folder for the backend, named after it: one that is not there yet, or that says
/// the same already.
QString backendFileIn(const QString& folder, const Backend& backend);

/// Writes the backend to the file and lets the recipe name it, as one undoable step. A file that is
/// there with other content is refused, so that undo finds what the recipe named before. Errors
/// name the file.
Result<void> useBackend(Workspace& workspace, const QString& text, const Backend& backend,
                        const QString& path);

/// What a backend lacks to quantize a node: a fusion, its partner entry, or both.
struct MissingFusion
{
    std::vector<std::string> pattern; ///< the operators it would fuse
    bool isPartnerAlone = false; ///< the fusion exists, but its partner stays float
    Backend backend; ///< with what lacks
};
/// Of the document's plan; empty where no shipped backend has such a fusion, or another thing keeps
/// the node float.
std::optional<MissingFusion> missingFusion(const Workspace& workspace, NodeId node);

/// "Conv2d, BatchNorm2d, ReLU"
QString shortPattern(const std::vector<std::string>& pattern);

} // namespace qs

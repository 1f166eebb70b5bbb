// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/summaries/qconfig_choices.h"
#include "ui/session/decisions/undo_commands.h"

namespace qs {

class Workspace;

/// Every qconfig with its fit to the target of an assignment, under the document's plan; empty
/// without a plan, or if the backend cannot be read.
std::vector<QConfigChoice> choicesFor(Workspace& workspace, const AssignTarget& target);

/// Adds the qconfig to the recipe under that name and assigns it to the target, as one undoable
/// step.
void assignNew(Workspace& workspace, const AssignTarget& target, const std::string& name,
               const QConfig& config);

} // namespace qs

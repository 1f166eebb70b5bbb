// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/decisions/undo_commands.h"

#include <QString>

#include <vector>

namespace qs {

class Workspace;

/// A target for a qconfig, with its displayed name: "this node", "module layer1".
struct AssignScope
{
    QString text;
    AssignTarget target;
};

/// The targets of a decision on the selection, narrowest first: the selected nodes or module,
/// single operators of a fusion, the same place in every repeat of its block, the enclosing
/// modules, all of its type, the whole model. Empty without a selection.
std::vector<AssignScope> assignScopes(Workspace& workspace);

/// A choice for one scope. `qconfigName`: "" keeps the scope float; nothing removes its rules.
struct AssignChoice
{
    QString text; ///< "float", "x86", "by rule"
    std::optional<std::string> qconfigName;
    QString words; ///< bits and scheme of a qconfig
    bool common = false; ///< float, a qconfig of the recipe or the backend's default: offered first
};
/// Returns all choices, in the order in which the window offers them.
std::vector<AssignChoice> assignChoices(const Workspace& workspace);

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/decisions/undo_commands.h"

#include <QString>

#include <vector>

namespace qs {

class Workspace;

/// One thing that a qconfig can be given to, as a user reads it: "this node", "module layer1".
struct AssignScope
{
    QString text;
    AssignTarget target;
};

/// What a decision on the selection can be aimed at, narrowest first: the selected nodes or module,
/// single operators of a fusion, the same place in every repeat of its block, the modules around,
/// all of its type, the whole model. Empty where nothing is selected.
std::vector<AssignScope> assignScopes(Workspace& workspace);

/// Does to one scope what the choice says: "" keeps it in float, nothing takes its own rules away.
struct AssignChoice
{
    QString text; ///< "float", "x86", "by rule"
    std::optional<std::string> qconfigName;
    QString words; ///< bits and scheme of a qconfig
    bool common = false; ///< float, the recipe's own, the backend's: offered first at every scope
};
/// Every choice there is, in the order in which the window offers them.
std::vector<AssignChoice> assignChoices(const Workspace& workspace);

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/dotted_names.h"

#include "engine/graph/module_tree.h"

namespace qs {

std::string moduleOfPath(const std::string& entryPath)
{
    return entryPath.ends_with("()") ? ModuleTree::parentPath(entryPath) : entryPath;
}

} // namespace qs

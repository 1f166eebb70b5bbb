// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <set>

namespace qs {

/// Returns the modules to open in a first view: breadth first, while at most `budget` items are
/// drawn. Boxes around repeated blocks stay folded.
std::set<int> initialExpansion(const FoldTree& tree, int budget);
/// Returns the entries of the modules with these paths, and the root.
std::set<int> entriesOf(const FoldTree& tree, const std::set<std::string>& paths);

} // namespace qs

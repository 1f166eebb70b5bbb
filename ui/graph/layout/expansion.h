// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <set>

namespace qs {

/// The modules to open at first: breadth first, while at most `budget` items are drawn. Boxes
/// around repeated blocks stay folded.
std::set<int> initialExpansion(const FoldTree& tree, int budget);
/// The entries of modules with these paths, the root always.
std::set<int> entriesOf(const FoldTree& tree, const std::set<std::string>& paths);

} // namespace qs

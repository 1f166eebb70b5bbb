// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace qs {

/// Boxes around repeated blocks in a grouped tree of the model all of whose nodes are among these.
std::vector<int> boxesWithin(const FoldTree& grouped, const std::vector<NodeId>& nodes);

/// The fewest entries of the tree that hold these nodes and no other, in the order of the tree.
std::vector<int> entriesWithin(const FoldTree& tree, const std::vector<NodeId>& nodes);

/// Of the worst errors of a box's blocks the worst and the best; nothing where none is known.
/// `sqnrOf` gives the worst of what is inside an entry.
std::optional<std::pair<double, double>>
spreadOf(const FoldTree& grouped, int box,
         const std::function<std::optional<double>(int entry)>& sqnrOf);

} // namespace qs

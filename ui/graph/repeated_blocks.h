// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace qs {

/// Returns the boxes around repeated blocks, in a grouped tree of the model, whose nodes are all in
/// `nodes`.
std::vector<int> boxesWithin(const FoldTree& grouped, const std::vector<NodeId>& nodes);

/// Returns the smallest set of entries that hold these nodes and no others, in the tree's order.
std::vector<int> entriesWithin(const FoldTree& tree, const std::vector<NodeId>& nodes);

/// Returns the worst and the best of the blocks' worst errors in a box; nothing if none is known.
/// `sqnrOf` returns the worst error inside an entry.
std::optional<std::pair<double, double>>
spreadOf(const FoldTree& grouped, int box,
         const std::function<std::optional<double>(int entry)>& sqnrOf);

} // namespace qs

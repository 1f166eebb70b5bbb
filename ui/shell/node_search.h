// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/fold_tree.h"
#include "ui/session/facts.h"

#include <QString>

#include <vector>

namespace qs {

/// Units of the tree that match a query, in graph order. Words are all to be found in the name or
/// module path; "op:conv2d", "module:layer1", "qconfig:float", "sqnr<30" and "sqnr>40" restrict.
std::vector<int> searchNodes(const FoldTree& tree, const Facts& facts, const QString& query);

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/graph.h"

#include <unordered_set>

namespace qs {

/// Returns the nodes with everything computed from them (`after`), or everything that they are
/// computed from.
std::unordered_set<NodeId> tracedNodes(const Graph& graph, const std::vector<NodeId>& from,
                                       bool after);

} // namespace qs

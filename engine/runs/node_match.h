// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

#include <vector>

namespace qs {

/// For each node of `second` the index in `first` of the same node, or -1. One node has at most one
/// counterpart.
///
/// Two nodes of one file are the same if name and operator are: edits keep both. Across files,
/// and for renamed nodes, they are the same if module, operator and call are. If several share
/// these, the longest common sequence between certain neighbours decides. Nodes that only a
/// count could pair are paired if both sides have equally many left. Bare positions never
/// count.
std::vector<int> matchNodes(const std::vector<const NodeIdentity*>& first,
                            const std::vector<const NodeIdentity*>& second);

/// Every node of a graph but its output, in its order.
std::vector<NodeIdentity> identitiesOf(const Graph& model);

} // namespace qs

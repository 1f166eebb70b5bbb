// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

#include <vector>

namespace qs {

/// Returns, for each node of `second`, the index of the same node in `first`, or -1. Each node has
/// at most one counterpart.
///
/// Nodes of one file are equal if name and operator are equal: edits keep both. Across files, and
/// for renamed nodes, they are equal if module, operator and call are equal. If several share
/// these, the longest common subsequence between already matched neighbours decides. Remaining
/// nodes are paired in order if both sides have equally many. Absolute positions are never
/// compared.
std::vector<int> matchNodes(const std::vector<const NodeIdentity*>& first,
                            const std::vector<const NodeIdentity*>& second);

/// Returns all nodes of a graph except its output, in order.
std::vector<NodeIdentity> identitiesOf(const Graph& model);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/runs/run_record.h"

#include <vector>

namespace qs {

/// For each node of `second` the place in `first` of the node that is the same, or -1. One node has
/// at most one counterpart.
///
/// Two nodes of one file are the same where name and operator are: edits keep both. Elsewhere, and
/// for what an edit renamed, a node is its module, operator and call. Where several share that,
/// they are told apart by what stands around them: the longest common sequence between neighbours
/// that are certain. What a plain count would pair alone is paired where both sides have equally
/// many left. Bare positions never count.
std::vector<int> matchNodes(const std::vector<const NodeIdentity*>& first,
                            const std::vector<const NodeIdentity*>& second);

/// Every node of a graph but its output, in its order.
std::vector<NodeIdentity> identitiesOf(const Graph& model);

} // namespace qs

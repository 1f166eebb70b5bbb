// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <unordered_set>

namespace qs {

/// A graph without regions (groups of nodes that write values in place): their nodes are in the
/// graph itself, as in files.
struct InlinedGraph
{
    GraphPtr graph;
    std::unordered_set<NodeId> inPlace; ///< nodes from regions; they run at every call, even if
                                        ///< they read only weights
};

/// Replaces every region by its nodes. A region writes to copies, so that its arguments stay
/// unchanged.
Result<InlinedGraph> inlineRegions(const Graph& graph);
/// Same as `inlineRegions`, but returns only the graph.
Result<GraphPtr> withoutRegions(const Graph& graph);

} // namespace qs

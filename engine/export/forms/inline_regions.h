// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <unordered_set>

namespace qs {

/// A graph whose regions (nodes kept together because they change values in place) are plain nodes
/// again, as files hold them.
struct InlinedGraph
{
    GraphPtr graph;
    std::unordered_set<NodeId> inPlace; ///< nodes that came out of regions: run at every call, even
                                        ///< where they read weights alone
};

/// Replaces every region by its nodes. A region writes to copies, so that its arguments stay
/// unchanged.
Result<InlinedGraph> inlineRegions(const Graph& graph);
/// The same; returns the graph alone.
Result<GraphPtr> withoutRegions(const Graph& graph);

} // namespace qs

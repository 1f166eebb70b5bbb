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

/// Puts the nodes of every region in its place. What a region writes to is a copy, so that its
/// arguments stay as they were.
Result<InlinedGraph> inlineRegions(const Graph& graph);
/// The same, of which the graph alone is of interest.
Result<GraphPtr> withoutRegions(const Graph& graph);

} // namespace qs

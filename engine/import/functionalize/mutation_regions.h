// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Moves the remaining in-place operators (those with live views, which `functionalize` cannot
/// replace) into opaque regions, target `quantscope.region.default`. A region's subgraph contains,
/// in order, every node that creates or reads a view of the changed memory up to the last change,
/// and the nodes between them. It works on copies of outer tensors, so the surrounding graph has no
/// mutations.
Result<Graph> foldMutationRegions(const Graph& graph);

} // namespace qs

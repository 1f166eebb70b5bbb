// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Puts the remaining in-place operators (`functionalize` could not replace them, since a live view
/// sees the change) into opaque regions, target `quantscope.region.default`. A region holds, as a
/// subgraph and in order, every node that makes or reads a view of the changed memory up to the
/// last change, and what lies between them; it works on copies of the tensors that come from
/// outside. The graph around it is free of mutation.
Result<Graph> foldMutationRegions(const Graph& graph);

} // namespace qs

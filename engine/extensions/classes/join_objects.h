// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Reverts `splitObjects` in a graph made from its result: each operator takes and returns whole
/// objects again, as in files. Inserts nodes that replace an object's field where it changed.
/// Returns the graph itself if no operator works on parts.
Result<GraphPtr> joinObjects(GraphPtr graph);

} // namespace qs

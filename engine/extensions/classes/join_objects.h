// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Undoes `splitObjects` in a graph made from its result: each operator takes and gives whole
/// objects again, as files hold them. A node replaces an object's field where it changed. Returns
/// the graph itself if no operator works by parts.
Result<GraphPtr> joinObjects(GraphPtr graph);

} // namespace qs

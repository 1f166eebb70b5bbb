// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Undoes `splitObjects` in whatever became of its graph: each operator takes and gives whole
/// objects again, as files hold them. Where another field takes the place of an object's own, a
/// node replaces it. The graph itself where nothing works by parts.
Result<GraphPtr> joinObjects(GraphPtr graph);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Lets objects of the classes that loaded packs adapt flow as two values each, the field and the
/// rest, so that the field is a tensor like any other: operators that take or give objects work by
/// parts (engine/graph/operators/class_parts.h), getting the field and replacing it need no nodes,
/// other readers get an object made anew. Bodies of branches and modules keep whole objects.
/// Returns the graph itself without such objects.
Result<GraphPtr> splitObjects(GraphPtr graph);

} // namespace qs

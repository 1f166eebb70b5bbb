// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Represents each object of an adapted class of a loaded pack by two values, the field and the
/// rest, so that the field is an ordinary tensor. Operators that take or return objects use their
/// overload on parts (engine/graph/operators/class_parts.h); nodes that get or replace the field
/// are removed; other consumers get a rebuilt object. Bodies of branches and modules keep whole
/// objects. Returns the graph itself if it has no such objects.
Result<GraphPtr> splitObjects(GraphPtr graph);

} // namespace qs

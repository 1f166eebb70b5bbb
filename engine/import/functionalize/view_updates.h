// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <optional>

namespace qs {

/// The tensor that a slice or a selected place shows a part of; nothing for other values.
const ValueRef* slicedFrom(const Graph& graph, ValueRef part);

/// A node that makes `whole` with `source` in place of the part that `view` (a slice or a selected
/// place) shows of it.
Node scattered(const Node& view, ValueRef whole, const ValueType& type, ValueRef source);

/// Removes detours: a part that is read from where it was written is read directly, and a tensor
/// without consumers is no longer assembled.
Graph withoutReadBacks(const Graph& graph);

} // namespace qs

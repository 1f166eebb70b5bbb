// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <optional>

namespace qs {

/// Returns the base tensor of a slice or select; null for other values.
const ValueRef* slicedFrom(const Graph& graph, ValueRef part);

/// Returns a scatter node: `whole` with the part viewed by `view` (a slice or select) replaced by
/// `source`.
Node scattered(const Node& view, ValueRef whole, const ValueType& type, ValueRef source);

/// Replaces reads of a just written part by the written value, and removes scatters without
/// consumers.
Graph withoutReadBacks(const Graph& graph);

} // namespace qs

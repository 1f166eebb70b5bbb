// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Adds a state update (`graph/operators/state.h`) for every buffer and input that an in-place
/// operator of the graph may write to, after all nodes. Call it before `functionalize`, which then
/// connects each update to the newest value.
Graph withMutatedState(const Graph& graph);

/// Removes updates without effect: their value is the holder's own.
Graph withoutIdleUpdates(const Graph& graph);

} // namespace qs

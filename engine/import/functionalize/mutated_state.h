// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Adds a state update (`graph/operators/state.h`) for every buffer and input that an in-place
/// operator of the graph may write to, after all nodes. To be called before `functionalize`, which
/// then gives each its newest value.
Graph withMutatedState(const Graph& graph);

/// Drops the updates without effect: their value is still their holder's.
Graph withoutIdleUpdates(const Graph& graph);

} // namespace qs

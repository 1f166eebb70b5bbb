// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Replaces every `kRecurTarget` by `torch.ops.higher_order.scan`, which a .pt2 can hold for any
/// sequence length. In a scan the carried values come first, and the result of a step is a copy of
/// its first state, because results of a scan must not alias.
Result<Graph> scanRecurrences(const Graph& graph);

} // namespace qs

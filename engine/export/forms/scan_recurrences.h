// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Spells every `kRecurTarget` as `torch.ops.higher_order.scan`, which a .pt2 can hold whatever the
/// length of the sequence: the carried values come first, and a step's result is a copy of its
/// first state (a scan's results may not alias).
Result<Graph> scanRecurrences(const Graph& graph);

} // namespace qs

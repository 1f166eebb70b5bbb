// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"

namespace qs {

/// Why the batch norm among these operators, in forward order, cannot be folded into the layer
/// before it: their channels are along different axes (the last for a linear, axis 1 for a batch
/// norm), or the layer's weight is computed by a parametrization. Empty if it can be folded.
std::string whyNotFoldable(const Graph& graph, const OpNames& names,
                           const std::vector<NodeId>& operators);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"

namespace qs {

/// Why the batch norm among these operators, in forward order, cannot be folded into the layer
/// before it: their channels lie along different axes (a linear's in the last, a batch norm's in
/// axis 1), or the layer computes its weight by a parametrization. Empty where nothing prevents it.
std::string whyNotFoldable(const Graph& graph, const OpNames& names,
                           const std::vector<NodeId>& operators);

} // namespace qs

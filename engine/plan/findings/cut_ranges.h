// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/plan.h"

namespace qs {

/// The range of the numbers that fixed parameters hold: -1...0.992 for tanh's.
struct FixedRange
{
    double low = 0, high = 0;
    double step = 1;
};
/// Errors are bugs: of a fixed_qparams observer alone.
FixedRange fixedRange(const ObserverSpec& spec);

/// Finds results of sums and products with a number that leave the fixed range which they share
/// with their input, such as `1 + tanh(x)`: values beyond saturate. Adds a finding for each, and to
/// its node's plan, where that has no other, the remedy to keep it float.
void findCutRanges(const Graph& graph, const OpNames& names, Plan& plan);

} // namespace qs

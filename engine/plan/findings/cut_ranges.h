// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/plan.h"

namespace qs {

/// The range of values that fixed parameters can represent: -1...0.992 for tanh.
struct FixedRange
{
    double low = 0, high = 0;
    double step = 1;
};
/// The range of a fixed_qparams observer. Precondition: `spec` is one.
FixedRange fixedRange(const ObserverSpec& spec);

/// Finds results of sums and products with a number that exceed the fixed range that they share
/// with their input, such as `1 + tanh(x)`, so that values saturate. Adds a finding for each and,
/// unless its node's plan already has a remedy, the remedy to keep it float.
void findCutRanges(const Graph& graph, const OpNames& names, Plan& plan);

} // namespace qs

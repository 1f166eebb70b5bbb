// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/plan.h"

namespace qs {

/// Warns of rows that the recipe removes from the lowering table without effect: each quantized
/// operator of such a row runs in the same kernel as its successor, by another row, which the
/// warning names. `plan` must have its groups.
void warnOfIdleRemovals(const Graph& graph, const OpNames& names, const Recipe& recipe, Plan& plan);

} // namespace qs

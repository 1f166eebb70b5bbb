// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/plan.h"

namespace qs {

/// Warns of rows that the recipe takes out of the lowering table and that no quantized operator of
/// the model uses, because each is followed by another that runs in the same kernel: the warning
/// names the row that does it. `plan` has its groups.
void warnOfIdleRemovals(const Graph& graph, const OpNames& names, const Recipe& recipe, Plan& plan);

} // namespace qs

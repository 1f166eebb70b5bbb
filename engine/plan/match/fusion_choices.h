// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

namespace qs {

// Two solutions of a conflict inside a fusion. Both are pure.

/// The recipe in which the member is never fused with the operator before it (`prepare.unfuse`), so
/// that the member's rule applies.
Recipe unfuse(const Recipe& recipe, const Graph& graph, const FusionConflict& conflict);
/// The recipe with node rules that give every member of the fusion the qconfig of the member's
/// rule.
Recipe applyToFusion(const Recipe& recipe, const Graph& graph, const Plan& plan,
                     const FusionConflict& conflict);

} // namespace qs

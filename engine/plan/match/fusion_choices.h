// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

namespace qs {

/// The two ways out of a conflict inside a fusion. Pure.

/// The member never joins the operator before it (`prepare.unfuse`), so that its own rule counts.
Recipe unfuse(const Recipe& recipe, const Graph& graph, const FusionConflict& conflict);
/// Gives every member of the fusion the qconfig of the member's rule, by node rules.
Recipe applyToFusion(const Recipe& recipe, const Graph& graph, const Plan& plan,
                     const FusionConflict& conflict);

} // namespace qs

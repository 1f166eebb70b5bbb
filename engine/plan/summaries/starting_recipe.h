// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

#include <string>

namespace qs {

/// A template for a recipe as JSON with comments, which `parseRecipe` accepts: the backend, the
/// mapping with the types and modules of this model as rules to uncomment, and every other key with
/// its default from `keyTables`. Without changes it decides as `recipe` does, since it has its
/// global qconfig and backend. Ends with a line feed.
std::string startingRecipe(const Graph& graph, const Plan& plan, const Recipe& recipe);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"

namespace qs {

/// The recipe with rules that keep the named operators float, as Horizon's hybrid mode runs them on
/// the CPU. A name is that of a node, a module's path, a module's class or a function, tried in
/// this order. The rules take precedence over the recipe's rules of the same kind. Fails (NotFound)
/// for a name that the model does not have; the hint is the nearest one.
Result<Recipe> withHybrid(Recipe recipe, const std::vector<std::string>& names, const Graph& graph);

} // namespace qs

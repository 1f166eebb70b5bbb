// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"

namespace qs {

/// The recipe with rules that keep the named operators float, as Horizon's hybrid mode runs it on
/// the CPU: nodes, modules by path, and modules by class or functions by name, in this order. They
/// are stronger than the recipe's rules of their kind. Fails (NotFound) at a name that the model
/// does not have; the hint is the nearest one.
Result<Recipe> withHybrid(Recipe recipe, const std::vector<std::string>& names, const Graph& graph);

} // namespace qs

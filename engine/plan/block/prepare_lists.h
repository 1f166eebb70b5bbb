// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

#include <string>
#include <vector>

namespace qs {

/// The names in a list of the recipe's `prepare` block ("only_modules", "wrap", "unfuse" ...).
std::vector<std::string> prepareList(const Recipe& recipe, const std::string& key);

/// The recipe with that list; an empty one goes. Pure.
Recipe withPrepareList(Recipe recipe, const std::string& key,
                       const std::vector<std::string>& names);

/// The recipe with the name on that list, or off it. Pure.
Recipe withPrepareName(Recipe recipe, const std::string& key, const std::string& name, bool listed);

} // namespace qs

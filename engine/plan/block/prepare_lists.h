// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// The names in a list of the recipe's `prepare` block ("only_modules", "wrap", "unfuse" ...).
std::vector<std::string> prepareList(const Recipe& recipe, const std::string& key);

/// The recipe with that list; removes an empty one. Pure.
Recipe withPrepareList(Recipe recipe, const std::string& key,
                       const std::vector<std::string>& names);

/// The recipe with the name on that list, or off it. Pure.
Recipe withPrepareName(Recipe recipe, const std::string& key, const std::string& name, bool listed);

/// The recipe that also keeps these nodes' values float, which are not finite on the calibration
/// data: by name, with the values seen ("prepare.not_finite"). Pure.
Recipe withNotFinite(Recipe recipe, const std::map<std::string, std::string>& seen);

} // namespace qs

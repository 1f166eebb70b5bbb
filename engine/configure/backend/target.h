// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

namespace qs {

/// Returns the recipe for another target: a backend with its default preset. `backend` is a shipped
/// name or a file. A global rule that is the old backend's preset becomes the new backend's preset.
/// Any other global qconfig is kept; so is the rule if the new backend has no preset. Fails with
/// NotFound, which names the nearest backend.
Result<Recipe> withBackend(Recipe recipe, const std::string& backend);

/// Returns a note that the recipe's target is assumed and how to specify it; "" if it is specified.
std::string assumedTarget(const Recipe& recipe);
/// Fails (BadInput) if the recipe names no target although the user's settings require one. Also
/// fails if the settings cannot be read.
Result<void> checkTargetNamed(const Recipe& recipe);

/// Returns the qconfig name under "global"; "" without one: operators without a rule then stay
/// float.
std::string globalQConfig(const Recipe& recipe);

/// Returns the default preset of a backend, shipped or a file: "x86" for "native"; "" = none.
std::string presetOf(const std::string& backend);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

namespace qs {

/// A hardware target is a backend and the presets that go with it. The recipe for another target:
/// its backend is `backend` (a shipped name or a file), and where its global rule is the preset of
/// the old backend, it becomes the preset of the new one. A global qconfig of the recipe's own, one
/// the user chose from elsewhere, and a new backend without a preset leave the rule as it is.
/// NotFound names the nearest backend.
Result<Recipe> withBackend(Recipe recipe, const std::string& backend);

/// A note that the recipe names no target, which is assumed, and how to name one; "" if it names
/// one.
std::string assumedTarget(const Recipe& recipe);
/// Refuses a recipe that names no target where the user's settings ask for one (BadInput), and
/// settings that cannot be read.
Result<void> checkTargetNamed(const Recipe& recipe);

/// The qconfig under "global"; "" without one: operators that no rule names stay float then.
std::string globalQConfig(const Recipe& recipe);

/// The preset that goes with a backend, shipped or a file: "x86" for "native"; "" = none.
std::string presetOf(const std::string& backend);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

#include <string>

namespace qs {

/// Returns the qconfig with a name that resolves to it in the recipe: an existing one (the recipe's
/// own, then presets), else `name`, or `name2` ... if that is taken, which is added to the recipe.
NamedQConfig addQConfig(Recipe& recipe, const QConfig& qconfig, const std::string& name);

/// Returns the spec with another observer kind or range method; bit width, scheme and smallest
/// scale are kept.
ObserverSpec observedBy(const ObserverSpec& from, ObserverKind kind,
                        RangeMethod range = RangeMethod::Search);

} // namespace qs

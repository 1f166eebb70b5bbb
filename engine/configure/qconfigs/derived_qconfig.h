// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

#include <string>

namespace qs {

/// The qconfig under a name that the recipe resolves to it: one that already means it (the recipe's
/// own, then presets), else `name`, or `name2` ... where that is taken, which the recipe then
/// holds.
NamedQConfig addQConfig(Recipe& recipe, const QConfig& qconfig, const std::string& name);

/// The same width, scheme and smallest scale, observed by another kind or range method.
ObserverSpec observedBy(const ObserverSpec& from, ObserverKind kind,
                        RangeMethod range = RangeMethod::Search);

} // namespace qs

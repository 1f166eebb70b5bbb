// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

namespace qs {

/// The recipe with the name on that list of its `prepare` block, or off it. Pure.
Recipe withPrepareName(Recipe recipe, PrepareNames list, const std::string& name, bool listed);

/// The recipe that also keeps these nodes' values float, which are not finite on the calibration
/// data: by name, with the values seen ("prepare.not_finite"). Pure.
Recipe withNotFinite(Recipe recipe, const std::map<std::string, std::string>& seen);

} // namespace qs

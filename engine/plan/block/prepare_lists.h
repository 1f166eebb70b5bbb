// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

namespace qs {

/// The recipe with the name added to a list of its `prepare` block (`listed`), or removed. Pure.
Recipe withPrepareName(Recipe recipe, PrepareNames list, const std::string& name, bool listed);

/// The recipe that also keeps these nodes' values float because they are not finite on the
/// calibration data ("prepare.not_finite"). `seen`: observed value by node name. Pure.
Recipe withNotFinite(Recipe recipe, const std::map<std::string, std::string>& seen);

} // namespace qs

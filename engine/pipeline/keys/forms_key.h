// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Key of the inputs of the conversion beside the calibration: `loweringKey` and the edits of the
/// forms, which planning does not read.
Key formsKey(const Recipe& recipe);

} // namespace qs

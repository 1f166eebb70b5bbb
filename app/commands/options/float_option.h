// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

namespace CLI {
class App;
}

namespace qs {

/// `--as-float32` of the verbs that open a model with a recipe. After those verbs were added.
void addFloatOption(CLI::App& app);
/// The recipe with the edit that does it first, where the user asked for it.
Recipe withFloatOption(Recipe recipe);

} // namespace qs

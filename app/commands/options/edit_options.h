// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

namespace CLI {
class App;
}

namespace qs {

/// `--as-float32` and `--fold` of the verbs that open a model with a recipe. After those verbs were
/// added.
void addEditOptions(CLI::App& app);
/// The recipe with the edits that the user asked for so: as float32 first, folding last.
Recipe withEditOptions(Recipe recipe);

} // namespace qs

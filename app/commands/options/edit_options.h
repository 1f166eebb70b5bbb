// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

namespace CLI {
class App;
}

namespace qs {

/// Edits that the user requests in addition to the recipe's.
struct AskedEdits
{
    bool asFloat32 = false, fold = false;
};

/// Adds `--as-float32` to a verb that opens a model.
void addFloatOption(CLI::App& verb, AskedEdits& edits);
/// Adds `--as-float32` and `--fold` to a verb that opens a model with a recipe.
void addEditOptions(CLI::App& verb, AskedEdits& edits);
/// Returns the recipe with these edits: as float32 first, folding last.
Recipe withAskedEdits(Recipe recipe, const AskedEdits& edits);

} // namespace qs

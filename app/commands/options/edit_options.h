// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"

namespace CLI {
class App;
}

namespace qs {

/// The edits that the user asks for beside the recipe's.
struct AskedEdits
{
    bool asFloat32 = false, fold = false;
};

/// `--as-float32` of a verb that opens a model.
void addFloatOption(CLI::App& verb, AskedEdits& edits);
/// `--as-float32` and `--fold` of a verb that opens a model with a recipe.
void addEditOptions(CLI::App& verb, AskedEdits& edits);
/// The recipe with these edits: as float32 first, folding last.
Recipe withAskedEdits(Recipe recipe, const AskedEdits& edits);

} // namespace qs

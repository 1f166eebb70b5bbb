// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/edit_options.h"

#include "engine/edit/half_precision.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

void addFloatOption(CLI::App& verb, AskedEdits& edits)
{
    verb.add_flag("--as-float32", edits.asFloat32,
                  "convert float16 and bfloat16 in the model to float32: weights, "
                  "inputs, casts; as an edit of the recipe (\"do\": \"as_float32\"), "
                  "which results keep");
}

void addEditOptions(CLI::App& verb, AskedEdits& edits)
{
    addFloatOption(verb, edits);
    verb.add_flag("--fold", edits.fold,
                  "fold values that depend only on parameters into constants, such as "
                  "weights that weight_norm or spectral_norm computes, so that they are "
                  "quantized; as an edit of the recipe (\"do\": \"fold\") after all "
                  "others");
}

Recipe withAskedEdits(Recipe recipe, const AskedEdits& edits)
{
    if (edits.asFloat32)
        recipe.edits = withFloat32(std::move(recipe.edits));
    EditStep fold;
    fold.kind = EditKind::Fold;
    if (edits.fold
        && std::find(recipe.edits.begin(), recipe.edits.end(), fold) == recipe.edits.end())
        recipe.edits.push_back(std::move(fold));
    return recipe;
}

} // namespace qs

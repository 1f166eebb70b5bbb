// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/edit_options.h"

#include "engine/edit/half_precision.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

namespace {

/// Of the one command that this process runs.
struct AskedEdits
{
    bool asFloat32 = false, fold = false;
};
AskedEdits& asked()
{
    static AskedEdits edits;
    return edits;
}

} // namespace

void addEditOptions(CLI::App& app)
{
    for (const char* verb : {"inspect", "plan", "edit", "quantize", "compare", "check"})
        app.get_subcommand(verb)->add_flag(
            "--as-float32", asked().asFloat32,
            "take what is float16 or bfloat16 in the model as float32: weights, inputs, casts; as "
            "an edit of the recipe (\"do\": \"as_float32\"), which results keep");
    for (const char* verb : {"inspect", "plan", "edit", "quantize", "check"})
        app.get_subcommand(verb)->add_flag(
            "--fold", asked().fold,
            "make constants of what depends on parameters alone, such as weights that weight_norm "
            "or spectral_norm computes, so that these are quantized; as an edit of the recipe "
            "(\"do\": \"fold\") behind all others");
}

Recipe withEditOptions(Recipe recipe)
{
    if (asked().asFloat32)
        recipe.edits = withFloat32(std::move(recipe.edits));
    EditStep fold;
    fold.kind = EditKind::Fold;
    if (asked().fold
        && std::find(recipe.edits.begin(), recipe.edits.end(), fold) == recipe.edits.end())
        recipe.edits.push_back(std::move(fold));
    return recipe;
}

} // namespace qs

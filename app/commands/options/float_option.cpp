// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/float_option.h"

#include "engine/edit/half_precision.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

/// Of the one command that this process runs.
bool& isAsked()
{
    static bool asked = false;
    return asked;
}

} // namespace

void addFloatOption(CLI::App& app)
{
    for (const char* verb : {"inspect", "plan", "edit", "quantize", "compare", "check"})
        app.get_subcommand(verb)->add_flag(
            "--as-float32", isAsked(),
            "take what is float16 or bfloat16 in the model as float32: weights, inputs, casts; as "
            "an edit of the recipe (\"do\": \"as_float32\"), which results keep");
}

Recipe withFloatOption(Recipe recipe)
{
    if (isAsked())
        recipe.edits = withFloat32(std::move(recipe.edits));
    return recipe;
}

} // namespace qs

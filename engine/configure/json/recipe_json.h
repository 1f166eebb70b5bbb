// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/recipe.h"

namespace qs {

/// `parseRecipe` for a recipe inside an already parsed document.
Result<Recipe> recipeFromJson(Json document, const std::string& path);
/// `recipeToJson` for a recipe inside another document.
Json recipeAsJson(const Recipe& recipe);

} // namespace qs

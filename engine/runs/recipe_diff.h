// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/runs/recorded_titles.h"

#include <string>
#include <vector>

namespace qs {

/// One decision that differs between two recipes. `before` or `after` is empty if the recipe does
/// not have it.
struct RecipeDifference
{
    std::string what; ///< "layer1.0.conv1", "global", "type torch.nn.Linear", "batches"
    std::string before, after; ///< "x86", "float", "−0.37…2.26"
    bool isRange = false; ///< both are manually chosen ranges
    /// "layer1.0.conv1: x86 ► float"
    std::string text() const;
    /// "layer1.0.conv1 float", "range of features.0.2: −0.37…2.26": for names of runs.
    std::string shortText() const;
    friend bool operator==(const RecipeDifference&, const RecipeDifference&) = default;
};

/// Returns all differences in the order of a recipe: edits, cures, backend, qconfigs, rules,
/// preparation, conversion, calibration. Empty exactly for equal recipes. Nodes are named by their
/// titles.
std::vector<RecipeDifference> diffRecipes(const Recipe& before, const Recipe& after,
                                          const RecordedTitles& titles = {});

/// Returns the change from one recipe to another, as the name of a run: "layer1.0.conv1 float",
/// "layer1.0.conv1 float and 2 more", "tune 1f3a, trial 4" if the cures of another trial were
/// taken;
/// "" if they are equal.
std::string changeInWords(const Recipe& before, const Recipe& after,
                          const RecordedTitles& titles = {});

/// Returns a summary that distinguishes a list's entries: "x86, 2 rules, 1 edit, 3 cures
/// (tune 1f3a, trial 4)".
std::string recipeInWords(const Recipe& recipe);

} // namespace qs

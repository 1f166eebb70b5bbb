// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/runs/recorded_titles.h"

#include <string>
#include <vector>

namespace qs {

/// One decision that two recipes make differently. `before` and `after` are empty where a recipe
/// does not have it.
struct RecipeDifference
{
    std::string what; ///< "layer1.0.conv1", "global", "type torch.nn.Linear", "batches"
    std::string before, after; ///< "x86", "float", "−0.37…2.26"
    bool isRange = false; ///< both are ends of a range that was chosen by hand
    /// "layer1.0.conv1: x86 ► float"
    std::string text() const;
    /// "layer1.0.conv1 float", "range of features.0.2: −0.37…2.26": for names of runs.
    std::string shortText() const;
    friend bool operator==(const RecipeDifference&, const RecipeDifference&) = default;
};

/// Every difference in the order of a recipe: edits, cures, backend, qconfigs, rules, preparation,
/// conversion, calibration. Empty exactly for equal recipes. Nodes go by their titles.
std::vector<RecipeDifference> diffRecipes(const Recipe& before, const Recipe& after,
                                          const RecordedTitles& titles = {});

/// The change from one recipe to another, as the name of a run: "layer1.0.conv1 float",
/// "layer1.0.conv1 float and 2 more"; "" where they are equal.
std::string changeInWords(const Recipe& before, const Recipe& after,
                          const RecordedTitles& titles = {});

/// "x86, 2 rules, 1 edit, 3 cures": enough to distinguish a list's entries.
std::string recipeInWords(const Recipe& recipe);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/recipe.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace qs {

/// The current decisions with earlier and later ones, for undo and redo. A value.
struct DecisionHistory
{
    std::vector<Recipe> recipes; ///< one more than `texts`, oldest first; empty: no history
    std::vector<std::string> texts; ///< description of each change from a recipe to the next
    std::size_t current = 0; ///< index of the current decisions
    friend bool operator==(const DecisionHistory&, const DecisionHistory&) = default;
};

/// Limits of a history in a file: steps, and approximate bytes of text. Beyond them, the oldest
/// steps are left out first, then the last steps that could be redone.
struct HistoryLimits
{
    std::size_t maxSteps = 100;
    std::size_t maxBytes = 4 << 20;
};

/// A JSON object with a separate version number for the project file at `path`; each step holds its
/// changes. Null without steps.
nlohmann::ordered_json historyToJson(const DecisionHistory& history, const std::string& path,
                                     const HistoryLimits& limits = {});
/// Reads what `historyToJson` wrote. Fails (BadInput) if it is damaged, newer than this program, or
/// its current decisions differ from `current`, those of the file.
Result<DecisionHistory> readHistory(const nlohmann::ordered_json& json, const std::string& path,
                                    const Recipe& current);

} // namespace qs

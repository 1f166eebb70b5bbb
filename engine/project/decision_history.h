// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/recipe.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace qs {

/// The decisions before and after those that stand, for undo and redo. A value.
struct DecisionHistory
{
    std::vector<Recipe> recipes; ///< one more than `texts`, oldest first; empty: no history
    std::vector<std::string> texts; ///< the change from a recipe to the next
    std::size_t current = 0; ///< index of the decisions that stand
    friend bool operator==(const DecisionHistory&, const DecisionHistory&) = default;
};

/// As much of a history as a file keeps: `maxSteps` steps and about `maxBytes` of text around the
/// decisions that stand; the steps farthest back go first, then the last that could be redone.
struct HistoryLimits
{
    std::size_t maxSteps = 100;
    std::size_t maxBytes = 4 << 20;
};

/// One object with a separate version, for the project file at `path`. Each step holds its changes.
/// Null without a step.
nlohmann::ordered_json historyToJson(const DecisionHistory& history, const std::string& path,
                                     const HistoryLimits& limits = {});
/// Reads it back. Fails (BadInput) if it is damaged, newer than this program, or does not lead to
/// `current`, the decisions of the file.
Result<DecisionHistory> readHistory(const nlohmann::ordered_json& json, const std::string& path,
                                    const Recipe& current);

} // namespace qs

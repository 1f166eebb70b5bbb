// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/match/constraint_check.h"
#include "engine/plan/plan.h"

#include <optional>

namespace qs {

/// The qconfig nearest to `wish` that a dtype config of the entry takes: dtypes, ranges, eps and
/// fixed parameters changed as the backend requires. Configs of the wish's own mode (static
/// or dynamic) are preferred. Empty if no config can be satisfied.
std::optional<QConfig> fitQConfig(const BackendPattern& entry, const QConfig& wish,
                                  const OperandFacts& facts);

/// The changes that turn one qconfig into the other: "set activation eps to 0.000244140625, use
/// weight dtype qint8".
std::string describeChange(const QConfig& from, const QConfig& to);

/// The recipe with the node's remedy in it: the remedy's qconfig under a new name (or the preset's,
/// if it equals one), or float, and a node rule for every member of the node's group; or an edit
/// that folds constants. Unchanged without a remedy.
Recipe applyRemedy(const Recipe& recipe, const Graph& graph, const Plan& plan, NodeId node);

} // namespace qs

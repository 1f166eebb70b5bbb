// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/match/constraint_check.h"
#include "engine/plan/plan.h"

#include <optional>

namespace qs {

/// The qconfig nearest to `wish` that a dtype config of the entry supports: dtypes, ranges, eps and
/// fixed parameters are changed as the backend requires. Prefers configs with the mode of `wish`
/// (static or dynamic). Empty if no config can be satisfied.
std::optional<QConfig> fitQConfig(const BackendPattern& entry, const QConfig& wish,
                                  const OperandFacts& facts);

/// The changes from one qconfig to another: "set activation eps to 0.000244140625, use weight dtype
/// qint8".
std::string describeChange(const QConfig& from, const QConfig& to);

/// The recipe with the node's remedy applied. Adds node rules for every member of the node's group,
/// with the remedy's qconfig (under a new name, or the name of an equal preset) or with float; or
/// adds an edit. Unchanged without a remedy.
Recipe applyRemedy(const Recipe& recipe, const Graph& graph, const Plan& plan, NodeId node);

} // namespace qs

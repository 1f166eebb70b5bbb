// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

namespace qs {

/// The nodes that are decided together with `node`: its group, or itself.
std::vector<NodeId> decidedTogether(const Graph& graph, const Plan& plan, NodeId node);

/// Gives each node the qconfig by a node rule, in place of any it had.
void setNodeRules(Recipe& recipe, const Graph& graph, const std::vector<NodeId>& nodes,
                  const NamedQConfig& qconfig);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/fusion_choices.h"

#include "engine/plan/node_rules.h"
#include "engine/plan/prepare_lists.h"

namespace qs {

Recipe unfuse(const Recipe& recipe, const Graph& graph, const FusionConflict& conflict)
{
    return withPrepareName(recipe, "unfuse", graph.get(conflict.member).name, true);
}

Recipe applyToFusion(const Recipe& recipe, const Graph& graph, const Plan& plan,
                     const FusionConflict& conflict)
{
    Recipe out = recipe;
    setNodeRules(out, graph, decidedTogether(graph, plan, conflict.root), conflict.memberQConfig);
    return out;
}

} // namespace qs

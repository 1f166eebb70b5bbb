// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/fusion_choices.h"

#include "engine/plan/block/prepare_lists.h"
#include "engine/plan/rules/node_rules.h"

namespace qs {

Recipe unfuse(const Recipe& recipe, const Graph& graph, const FusionConflict& conflict)
{
    return withPrepareName(recipe, &PrepareConfig::unfuse, graph.get(conflict.member).name, true);
}

Recipe applyToFusion(const Recipe& recipe, const Graph& graph, const Plan& plan,
                     const FusionConflict& conflict)
{
    Recipe out = recipe;
    setNodeRules(out, graph, decidedTogether(graph, plan, conflict.root), conflict.memberQConfig);
    return out;
}

} // namespace qs

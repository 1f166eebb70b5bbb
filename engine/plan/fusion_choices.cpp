// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/fusion_choices.h"

#include "engine/plan/node_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace qs {

Recipe unfuse(const Recipe& recipe, const Graph& graph, const FusionConflict& conflict)
{
    Recipe out = recipe;
    auto json = nlohmann::ordered_json::parse(recipe.prepareJson, nullptr, false);
    if (!json.is_object())
        json = nlohmann::ordered_json::object();
    auto& names = json["unfuse"];
    const std::string& name = graph.get(conflict.member).name;
    if (std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    out.prepareJson = json.dump();
    return out;
}

Recipe applyToFusion(const Recipe& recipe, const Graph& graph, const Plan& plan,
                     const FusionConflict& conflict)
{
    Recipe out = recipe;
    setNodeRules(out, graph, decidedTogether(graph, plan, conflict.root), conflict.memberQConfig);
    return out;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/fusion_choices.h"

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
    std::vector<NodeId> members {conflict.root, conflict.member};
    if (const NodePlan* node = plan.tryGet(graph, conflict.root); node && node->group >= 0)
        members = plan.groups[std::size_t(node->group)].members;
    for (const NodeId member : members) {
        const std::string& name = graph.get(member).name;
        std::erase_if(out.mapping.rules, [&name](const Rule& rule) {
            return rule.kind == RuleKind::Node && rule.key == name;
        });
        Rule rule;
        rule.kind = RuleKind::Node;
        rule.key = name;
        rule.qconfig = conflict.memberQConfig;
        out.mapping.rules.push_back(std::move(rule));
    }
    return out;
}

} // namespace qs

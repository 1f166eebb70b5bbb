// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/rules/node_rules.h"

namespace qs {

std::vector<NodeId> decidedTogether(const Graph& graph, const Plan& plan, NodeId node)
{
    const NodePlan* found = plan.tryGet(graph, node);
    if (found && found->group >= 0)
        return plan.groups[std::size_t(found->group)].members;
    return {node};
}

void setNodeRules(Recipe& recipe, const Graph& graph, const std::vector<NodeId>& nodes,
                  const NamedQConfig& qconfig)
{
    for (const NodeId node : nodes) {
        const std::string& name = graph.get(node).name;
        std::erase_if(recipe.mapping.rules, [&name](const Rule& rule) {
            return rule.kind == RuleKind::Node && rule.key == name;
        });
        Rule rule;
        rule.kind = RuleKind::Node;
        rule.key = name;
        rule.qconfig = qconfig;
        recipe.mapping.rules.push_back(std::move(rule));
    }
}

} // namespace qs

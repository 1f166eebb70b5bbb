// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/summaries/replacements.h"

#include "engine/plan/block/prepare_lists.h"
#include "engine/plan/rules/node_rules.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// The operators that node rules keep float, in graph order; an unfused one belongs to the operator
/// before it.
std::vector<Replacement> keptOnes(const Graph& graph, const Recipe& recipe, const Plan& plan)
{
    std::set<std::string> floats;
    for (const Rule& rule : recipe.mapping.rules)
        if (rule.kind == RuleKind::Node && !rule.qconfig.config)
            floats.insert(rule.key);
    const auto& unfused = recipe.prepare.unfuse;
    std::vector<Replacement> kept;
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isOperator() || !floats.contains(node->name))
            continue;
        if (const NodePlan* decided = plan.tryGet(graph, node->id); !decided || decided->quantized)
            continue; // a rule without effect inside a fusion
        const bool isApart = std::find(unfused.begin(), unfused.end(), node->name) != unfused.end();
        const auto before = std::find_if(kept.begin(), kept.end(), [&](const Replacement& one) {
            bool reads = false;
            for (const auto& argument : node->args)
                forEachRef(argument.value,
                           [&](ValueRef ref) { reads = reads || ref.node == one.members.back(); });
            return reads;
        });
        if (isApart && before != kept.end()) {
            before->members.push_back(node->id);
            continue;
        }
        kept.emplace_back();
        kept.back().members = {node->id};
        kept.back().isKept = true;
    }
    return kept;
}

} // namespace

std::vector<Replacement> replacementsOf(const Graph& graph, const Recipe& recipe, const Plan& plan)
{
    std::vector<Replacement> out = keptOnes(graph, recipe, plan);
    const auto isKept = [&out](NodeId id) {
        return std::any_of(out.begin(), out.end(), [id](const Replacement& one) {
            return one.isKept
                && std::find(one.members.begin(), one.members.end(), id) != one.members.end();
        });
    };
    for (const MatchGroup& group : plan.groups)
        if ((group.quantized || group.fused) && !isKept(group.root)) {
            Replacement made;
            made.members = group.members;
            made.prepared = group.fusedModule;
            made.isQuantized = group.quantized;
            if (group.quantized)
                made.reference = group.referenceModule;
            out.push_back(std::move(made));
        }
    std::stable_sort(out.begin(), out.end(), [&](const Replacement& a, const Replacement& b) {
        return graph.position(a.members.front()) < graph.position(b.members.front());
    });
    return out;
}

Recipe keepAsItIs(Recipe recipe, const Graph& graph, const Replacement& replacement)
{
    setNodeRules(recipe, graph, replacement.members, {});
    for (std::size_t i = 1; i < replacement.members.size(); ++i)
        recipe = withPrepareName(std::move(recipe), &PrepareConfig::unfuse,
                                 graph.get(replacement.members[i]).name, true);
    return recipe;
}

Recipe replaceAgain(Recipe recipe, const Graph& graph, const Replacement& replacement)
{
    for (const NodeId id : replacement.members) {
        const std::string& name = graph.get(id).name;
        std::erase_if(recipe.mapping.rules, [&name](const Rule& rule) {
            return rule.kind == RuleKind::Node && rule.key == name && !rule.qconfig.config;
        });
        recipe = withPrepareName(std::move(recipe), &PrepareConfig::unfuse, name, false);
    }
    return recipe;
}

} // namespace qs

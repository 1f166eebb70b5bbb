// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/rules/fusion_conflicts.h"

#include "engine/base/text.h"

#include <algorithm>

namespace qs {

bool lacksTypeRule(const Unit& unit, std::size_t member, const RuleHits& root, const RuleHits& own)
{
    return unit.fusionEntry >= 0 && !root.empty() && root.front()->kind == RuleKind::ObjectType
        && !root.front()->fromBackend && root.front()->qconfig.config
        && unit.names[member].find("BatchNorm") == std::string::npos
        && (own.empty() || own.front()->kind == RuleKind::Global);
}

bool isOverridden(const Rule& rule, const RuleHits& stronger)
{
    return std::find(stronger.begin(), stronger.end(), &rule) != stronger.end();
}

bool noteConflict(const Unit& unit, std::size_t member, const RuleHits& root, const RuleHits& own,
                  Plan& plan)
{
    const auto qconfigOf = [](const RuleHits& hits) {
        return hits.empty() ? NamedQConfig() : hits.front()->qconfig;
    };
    const NamedQConfig wins = qconfigOf(root), loses = qconfigOf(own);
    if (wins.config == loses.config || own.empty() || own.front()->fromBackend
        || isOverridden(*own.front(), root))
        return false;
    plan.conflicts.push_back({unit.root(), unit.nodes[member], wins, loses});
    return true;
}

void warnOfConflicts(const Graph& graph, const std::vector<FusionConflict>& withoutRule, Plan& plan)
{
    struct Group
    {
        std::string wins, loses; ///< `loses` is empty where no rule by object type is lost
        std::vector<std::string> roots, members;
    };
    const auto nameOf = [](const NamedQConfig& qconfig) {
        return qconfig.config ? inQuotes(qconfig.name) : std::string("null");
    };
    std::vector<Group> groups;
    const auto add = [&](const FusionConflict& conflict, const std::string& loses) {
        const std::string wins = nameOf(conflict.rootQConfig);
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
            return g.wins == wins && g.loses == loses;
        });
        if (group == groups.end())
            group = groups.insert(groups.end(), {wins, loses, {}, {}});
        group->roots.push_back(graph.get(conflict.root).name);
        group->members.push_back(graph.get(conflict.member).name);
    };
    for (const FusionConflict& conflict : plan.conflicts)
        add(conflict, nameOf(conflict.memberQConfig));
    for (const FusionConflict& conflict : withoutRule)
        add(conflict, {});
    for (const Group& group : groups) {
        const bool one = group.members.size() == 1;
        const std::string members = quotedNames(group.members);
        const std::string named = one ? members : std::string("them");
        const std::string lost = group.loses.empty()
            ? ": no rule by object type names " + named + ", where torch.ao raises LookupError"
            : (one ? ": the rule that gives " : ": what gives ") + named + " " + group.loses
                + " has no effect";
        plan.warnings.push_back(members + (one ? " is" : " are") + " fused into "
                                + quotedNames(group.roots)
                                + (one ? " and takes its qconfig " : " and take their qconfig ")
                                + group.wins + lost + "; give both the same qconfig, or name "
                                + (one ? members : std::string("them")) + " under prepare.unfuse");
    }
}

} // namespace qs

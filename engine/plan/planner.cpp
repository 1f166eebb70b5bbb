// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/planner.h"

#include "engine/configure/backend/lowering_table.h"
#include "engine/plan/block/prepare_names.h"
#include "engine/plan/decide.h"
#include "engine/plan/findings/cut_ranges.h"
#include "engine/plan/findings/idle_removals.h"
#include "engine/plan/findings/other_spellings.h"
#include "engine/plan/findings/outside_modules.h"
#include "engine/plan/match/custom_matches.h"
#include "engine/plan/model_warnings.h"
#include "engine/plan/names/object_types.h"
#include "engine/plan/names/own_modules.h"
#include "engine/plan/observer_plan.h"
#include "engine/plan/overrides/branch_conditions.h"
#include "engine/plan/overrides/float_results.h"
#include "engine/plan/overrides/not_finite_values.h"
#include "engine/plan/reasons.h"
#include "engine/plan/rules/fusion_conflicts.h"
#include "engine/plan/rules/given_ranges.h"
#include "engine/plan/rules/mixed_qconfigs.h"

#include <map>

namespace qs {

namespace {

/// Determines the facts of an operator that rules match: its module, its type, and which call of
/// that type it is.
class Subjects
{
public:
    Subjects(const Graph& graph, const OpNames& names)
        : m_graph(graph)
        , m_names(names)
    {
    }

    /// Call in graph order, since it counts the calls of each type.
    RuleSubject of(const Unit& unit)
    {
        RuleSubject subject = member(unit, 0);
        const Node& node = m_graph.get(unit.root());
        const OpName& name = m_names[m_graph.position(unit.root())];
        if (unit.fusionEntry >= 0)
            subject.types.push_back(unit.name);
        subject.orderModule
            = name.isModule() ? ModuleTree::parentPath(node.scope.path) : node.scope.path;
        subject.orderType = name.name;
        subject.orderIndex = m_calls[{subject.orderModule, subject.orderType}]++;
        return subject;
    }

    /// The facts of a member of a fusion as if it were not fused.
    RuleSubject member(const Unit& unit, std::size_t index) const
    {
        const Node& node = m_graph.get(unit.nodes[index]);
        const OpName& name = m_names[m_graph.position(node.id)];
        RuleSubject subject;
        subject.nodeName = node.name;
        subject.modulePath = node.scope.path;
        subject.orderIndex = -1;
        // A function belongs to the module that calls it, whose type is the stronger rule.
        if (!name.isModule() && !node.scope.moduleClass.empty())
            subject.types.push_back(canonicalTypeName(node.scope.moduleClass));
        subject.types.push_back(name.name);
        subject.spellings = name.others;
        return subject;
    }

private:
    const Graph& m_graph;
    const OpNames& m_names;
    std::map<std::pair<std::string, std::string>, int> m_calls;
};

struct FoundRules
{
    std::vector<RuleHits> hits; ///< by unit
    /// Members of fusions with separate rules, which have no effect.
    std::vector<std::pair<NodeId, const Rule*>> lost;
    std::vector<FusionConflict> withoutRule; ///< members for which `lacksTypeRule` is true
};

/// Finds the rules that reach each unit; records conflicts in fusions in the plan.
FoundRules findRules(const Graph& graph, const OpNames& names, const Matches& matches,
                     const ModuleChoices& choices, RuleTable& rules, Plan& plan)
{
    Subjects subjects(graph, names);
    FoundRules found;
    for (const Unit& unit : matches.units) {
        const RuleSubject subject = subjects.of(unit);
        found.hits.push_back(choices.keepsFloat(unit.root()) ? RuleHits() : rules.find(subject));
        for (std::size_t i = 1; i < unit.nodes.size(); ++i) {
            const RuleHits own = rules.find(subjects.member(unit, i));
            if (noteConflict(unit, i, found.hits.back(), own, plan))
                found.lost.emplace_back(unit.nodes[i], own.front());
            else if (lacksTypeRule(unit, i, found.hits.back(), own))
                found.withoutRule.push_back(
                    {unit.root(), unit.nodes[i], found.hits.back().front()->qconfig, {}});
        }
    }
    return found;
}

/// Sets verdict, rules and reason of each node. A rule without effect is listed among the
/// overridden ones.
void fillNodes(const Findings& findings, const Reasoner& reasoner, const FoundRules& rules,
               Plan& plan)
{
    const Graph& graph = findings.graph;
    plan.nodes.reserve(findings.names.size());
    for (std::size_t i = 0; i < findings.names.size(); ++i) {
        plan.nodes.push_back(reasoner.nodePlan(i));
        const Node& node = *graph.nodes()[i];
        if (node.isOperator())
            plan.nodes.back().activations = activationUses(graph, node, findings.names[i]);
    }
    for (const auto& [node, rule] : rules.lost) {
        std::vector<Rule>& overrides = plan.nodes[graph.position(node)].overrides;
        overrides.insert(overrides.begin(), *rule);
    }
}

/// The module that torch.ao trains in place of the unit; "" if the backend names none.
std::string qatModuleOf(const Unit& unit, const Backend& backend)
{
    const std::string& name = unit.fusionEntry < 0
        ? unit.name
        : backend.patterns[std::size_t(unit.fusionEntry)].fusedModule;
    for (const BackendPattern& entry : backend.patterns)
        if (!entry.qatModule.empty() && entry.pattern.size() == 1 && entry.pattern[0] == name)
            return entry.qatModule;
    return {};
}

void fillGroups(const Matches& matches, const std::vector<Verdicts>& verdicts,
                const Backend& backend, Plan& plan)
{
    plan.groups.reserve(matches.matches.size());
    const auto add = [&](MatchGroup group, const std::vector<std::size_t>& units) {
        for (const std::size_t u : units)
            for (const NodeId id : matches.units[u].nodes)
                group.members.push_back(id);
        const Unit& first = matches.units[units.front()];
        group.root = first.root();
        if (first.fusionEntry >= 0) {
            group.fused = true;
            group.fusedModule = first.name;
        }
        group.qatModule = qatModuleOf(first, backend);
        plan.groups.push_back(std::move(group));
    };
    for (std::size_t i = 0; i < matches.matches.size(); ++i) {
        MatchGroup group;
        group.patternEntry = matches.matches[i].entry;
        group.quantized = verdicts[i].decision.quantized;
        group.customModule = verdicts[i].decision.customModule;
        group.floatResult = verdicts[i].decision.floatResult;
        group.referenceModule = verdicts[i].referenceModule;
        group.dtypeConfig = verdicts[i].dtypeConfig;
        add(std::move(group), matches.matches[i].units);
    }
    for (std::size_t u = 0; u < matches.units.size(); ++u)
        if (matches.units[u].fusionEntry >= 0 && !matches.matchOf.count(matches.units[u].root()))
            add({}, {u});
}

void sortGroups(const Graph& graph, Plan& plan)
{
    std::vector<std::pair<std::size_t, std::size_t>> order; // position of the root, group
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
        order.emplace_back(graph.position(plan.groups[g].root), g);
    std::sort(order.begin(), order.end());
    std::vector<MatchGroup> sorted;
    sorted.reserve(order.size());
    for (const auto& [position, g] : order)
        sorted.push_back(std::move(plan.groups[g]));
    plan.groups = std::move(sorted);
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
        for (const NodeId id : plan.groups[g].members)
            plan.nodes[graph.position(id)].group = int(g);
}

void countCoverage(const Graph& graph, Plan& plan)
{
    for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
        if (!graph.nodes()[i]->isOperator())
            continue;
        ++plan.totalOps;
        plan.eligibleOps += plan.nodes[i].eligible;
        plan.quantizedOps += plan.nodes[i].quantized;
    }
}

/// The name of an operator with several possible names: one that the backend lists, if any.
OpName settled(OpName name, const std::set<std::string>& listed)
{
    if (listed.contains(name.name))
        return name;
    for (std::string& other : name.others)
        if (listed.contains(other)) {
            std::swap(name.name, other);
            name.kind = name.name.find('.') == std::string::npos ? OpName::Kind::Method
                                                                 : OpName::Kind::Function;
            break;
        }
    return name;
}

} // namespace

Result<Plan> makePlan(const Graph& graph, const Recipe& recipe, const Backend& backend,
                      const JobContext& job)
{
    const PrepareSettings settings = prepareSettings(recipe);
    OpNames names;
    const ModuleChoices choices(graph, settings);
    std::set<std::string> listed = patternNames(backend);
    for (const CustomModulePtr& module : customModules())
        listed.insert(module->floatClass());
    for (const auto& node : graph.nodes())
        names.push_back(choices.keepsFloat(node->id) ? OpName {}
                                                     : settled(opNameOf(*node), listed));
    QS_CHECK(checkPackOperators(backend));
    QS_CHECK(checkCustomModuleModes(recipe.convert));
    std::vector<std::string> ownModules = nameOwnModules(graph, backend, listed, names);
    const QConfigMapping mapping = effectiveMapping(recipe);
    QS_CHECK(checkObjectTypes(mapping, graph, names, backend));
    QS_TRY(RuleTable rules, RuleTable::make(mapping));

    Plan plan;
    plan.backend = backend.name;
    plan.warnings = std::move(ownModules);
    std::set<NodeId> apart;
    for (const std::string& name : settings.unfused)
        if (const Node* node = graph.tryFind(name))
            apart.insert(node->id);
        else
            plan.warnings.push_back("prepare.unfuse names '" + name
                                    + "': the graph has no such node");
    QS_CHECK(job.check());
    Matches matches = matchPatterns(graph, names, backend, apart);
    QS_CHECK(job.check());
    addCustomModuleMatches(graph, names, matches);
    const FoundRules found = findRules(graph, names, matches, choices, rules, plan);
    const std::vector<RuleHits>& hits = found.hits;
    warnOfConflicts(graph, found.withoutRule, plan);
    QS_CHECK(checkMixedQConfigs(graph, matches, hits, mapping, plan.warnings));
    std::vector<Verdicts> verdicts;
    std::vector<Decision> decisions;
    const Decider decider(graph, names, matches, backend);
    for (const Match& match : matches.matches) {
        QS_CHECK(job.check());
        verdicts.push_back(decider.decide(match, hits, plan.warnings));
        const NodeId root = matches.units[match.units.front()].root();
        if (const auto* modes = choices.mappedModes(root))
            holdToMappedModes(graph.get(root), *modes, verdicts.back());
        decisions.push_back(verdicts.back().decision);
        if (const RuleHits& ruled = hits[verdicts.back().ruledBy]; !ruled.empty())
            decisions.back().rule = ruled.front();
    }
    applyNullEdges(graph, names, matches, rules, verdicts, decisions);
    applyBranchConditions(graph, matches, verdicts, decisions);
    const auto notFinite
        = applyNotFinite(graph, names, settings.notFinite, matches, verdicts, decisions);
    applyFloatResults(graph, matches, recipe.floatNeedless, verdicts, decisions);
    QS_CHECK(job.check());
    ObserverPlan observers = planObservers(graph, names, matches, decisions, rules);
    QS_CHECK(job.check());
    plan.observers = std::move(observers.observers);
    takeGivenSpecs(graph, plan);

    const Findings findings {graph, names, matches, hits, verdicts, observers, backend, choices};
    const Reasoner reasoner(findings);
    fillNodes(findings, reasoner, found, plan);
    QS_CHECK(job.check());
    fillGroups(matches, verdicts, backend, plan);
    sortGroups(graph, plan);
    findOtherSpellings(graph, names, backend, plan);
    countCoverage(graph, plan);
    QS_CHECK(job.check());
    findCutRanges(graph, names, plan);
    findOutsideModules(graph, choices, plan);
    plan.findings.insert(plan.findings.end(), notFinite.begin(), notFinite.end());
    QS_CHECK(job.check());
    reasoner.warn(rules, plan.warnings);
    warnOfPrepareNames(graph, recipe, plan.warnings);
    warnOfModel(graph, plan.warnings);
    for (std::string& line : loweringWarnings(recipe))
        plan.warnings.push_back(std::move(line));
    warnOfIdleRemovals(graph, names, recipe, plan);
    return plan;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/reasons.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/plan/match/custom_matches.h"
#include "engine/plan/match/fusion_gap.h"
#include "engine/plan/names/taken_apart.h"
#include "engine/plan/whole_objects.h"

#include <algorithm>

namespace qs {

namespace {

constexpr const char* kLinear = "torch.nn.functional.linear";

std::string patternText(const std::vector<std::string>& names)
{
    std::string text = names.size() > 1 ? "(" : "";
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i ? ", " : "") + names[i];
    return names.size() > 1 ? text + ")" : text;
}

bool makesTensor(const Node& node)
{
    return std::any_of(node.outputs.begin(), node.outputs.end(),
                       [](const Value& value) { return value.type.kind == ValueKind::Tensor; });
}

bool readsTensor(const Graph& graph, const Node& node)
{
    bool found = false;
    for (const auto& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            found = found || graph.value(ref).type.kind == ValueKind::Tensor;
        });
    return found;
}

bool readsOnlyStored(const Graph& graph, const Node& node)
{
    bool stored = false, computed = false;
    for (const auto& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            (graph.get(ref.node).isStored() ? stored : computed) = true;
        });
    return stored && !computed;
}

bool hasWeight(const Node& node, const OpName& name)
{
    for (std::size_t a = 0; a < node.args.size(); ++a)
        if (node.args[a].value.asRef() && argumentRole(node, name, a) == ArgumentRole::Weight)
            return true;
    return false;
}

/// Whether a value is a stored tensor or made from one only, such as its transpose or a copy.
bool isMadeOfWeight(const Graph& graph, ValueRef ref)
{
    for (;;) {
        const Node& node = graph.get(ref.node);
        if (!node.isOperator())
            return node.isStored();
        std::vector<ValueRef> read;
        for (const auto& argument : node.args)
            forEachRef(argument.value, [&](ValueRef from) { read.push_back(from); });
        if (read.size() != 1)
            return false;
        ref = read.front();
    }
}

/// True for a linear layer in core ATen without a record of its call.
bool multipliesByWeight(const Graph& graph, const Node& node, const OpName& name)
{
    const Argument* right = node.tryArg("mat2");
    return familyOf(name.base) == OperatorFamily::Product && right && right->asRef()
        && isMadeOfWeight(graph, *right->asRef());
}

/// Sets the strongest rule and those that it overrode.
void setRule(NodePlan& plan, const RuleHits& hits)
{
    plan.rule = *hits.front();
    plan.overrides.clear();
    for (std::size_t i = 1; i < hits.size(); ++i)
        plan.overrides.push_back(*hits[i]);
}

std::vector<std::string> modulePaths(const Graph& graph)
{
    std::vector<std::string> paths;
    for (const ModuleEntry* module : graph.modules().inOrder())
        paths.push_back(module->path);
    return paths;
}

std::vector<std::string> nodeNames(const Graph& graph)
{
    std::vector<std::string> names;
    for (const NodePtr& node : graph.nodes())
        names.push_back(node->name);
    return names;
}

/// "; did you mean 'fc'?" if there is a similar name; else "".
std::string meant(const std::string& word, const std::vector<std::string>& names)
{
    const std::string near = nearestName(word, names);
    return near.empty() ? std::string() : "; did you mean '" + near + "'?";
}

} // namespace

Reasoner::Reasoner(const Findings& findings)
    : Findings(findings)
    , m_alternatives(findings.backend)
    , m_takenApart(layersTakenApart(graph, names))
{
    for (const BackendPattern& entry : backend.patterns)
        if (entry.pattern.size() == 1 && !entry.dtypeConfigs.empty())
            m_single.insert(canonicalTypeName(entry.pattern[0]));
    std::erase_if(m_takenApart, [this](const auto& layer) { return !isWhole(layer.second); });
    for (std::size_t i = 0; i < matches.blocked.size(); ++i) {
        m_blockedAt[matches.blocked[i].last].push_back(i);
        m_blockedAt[matches.blocked[i].inner].push_back(i);
    }
}

NodePlan Reasoner::nodePlan(std::size_t position) const
{
    const Node& node = *graph.nodes()[position];
    const OpName& name = names[position];
    NodePlan plan;
    plan.node = node.id;
    plan.rule.kind = RuleKind::None;
    if (!node.isOperator())
        return plan;
    const auto unit = matches.unitOf.find(node.id);
    if (unit != matches.unitOf.end() && !hits[unit->second].empty()
        && name.kind != OpName::Kind::Inside && name.kind != OpName::Kind::None) {
        setRule(plan, hits[unit->second]);
    }
    const auto match = matches.matchOf.find(node.id);
    if (match != matches.matchOf.end())
        explainMatched(plan, std::size_t(match->second));
    else
        explainUnmatched(plan, node, name);
    return plan;
}

void Reasoner::explainMatched(NodePlan& plan, std::size_t match) const
{
    const Verdicts& found = verdicts[match];
    plan.eligible = matches.matches[match].entry >= 0 || found.decision.customModule;
    plan.note = found.note;
    plan.patternEntry = matches.matches[match].entry;
    for (const std::size_t u : matches.matches[match].units)
        plan.pattern.insert(plan.pattern.end(), matches.units[u].names.begin(),
                            matches.units[u].names.end());
    plan.verdict = found.verdict;
    plan.reason = found.reason;
    plan.remedy = found.remedy;
    plan.candidates = found.candidates;
    addBlocked(plan);
    if (!hits[found.ruledBy].empty())
        setRule(plan, hits[found.ruledBy]);
    if (found.nullEdge) {
        plan.overrides.insert(plan.overrides.begin(), plan.rule);
        plan.rule = *found.nullEdge;
    }
    if (const auto edges = observers.inputRules.find(plan.node);
        edges != observers.inputRules.end())
        plan.inputRules = edges->second;
    if (!found.decision.quantized)
        return;
    plan.qconfigName = found.qconfig.name;
    plan.qconfig = found.qconfig.config;
    if (observers.floating[match]) {
        plan.verdict = Verdict::FloatByRule;
        plan.reason = Reason::of<ReasonCode::InputNotObserved>(found.qconfig.name);
        plan.remedy = {"give it a qconfig with its own observer", std::nullopt};
        return;
    }
    plan.quantized = true;
    plan.verdict = observers.shared[match] ? Verdict::Shared : Verdict::Quantized;
    if (plan.pattern.size() == 1 && !plan.candidates.empty() && !plan.remedy)
        plan.remedy.text = plan.candidates.front().text;
}

void Reasoner::addBlocked(NodePlan& plan) const
{
    const auto found = m_blockedAt.find(plan.node);
    if (found == m_blockedAt.end())
        return;
    for (const std::size_t i : found->second) {
        const BlockedFusion& blocked = matches.blocked[i];
        const auto& entry = backend.patterns[std::size_t(blocked.entry)];
        plan.candidates.push_back(
            {blocked.entry, entry.pattern,
             "not fused as " + patternText(entry.pattern) + ": " + blocked.why});
    }
}

bool Reasoner::isWhole(const std::string& name) const
{
    return m_single.contains(name) || customModuleOf(name);
}

void Reasoner::explainInside(NodePlan& plan, const Node& node, const OpName& name) const
{
    plan.verdict = Verdict::FloatByBackend;
    if (isWhole(name.name)) {
        const Taker taker
            = m_takenApart.contains(node.scope.path) ? takerOf(graph) : Taker {"", ""};
        plan.reason = Reason::of<ReasonCode::InsideWholeModule>(name.name, taker.name);
        plan.remedy.text = taker.remedy;
        return;
    }
    // A layer inside counts like one elsewhere; operators that only move values do not count.
    const OpName own = ownNameOf(node);
    plan.eligible = (m_single.contains(own.name) && hasWeight(node, own))
        || (m_single.contains(kLinear) && multipliesByWeight(graph, node, own));
    plan.reason = Reason::of<ReasonCode::InsideModule>(name.name, backend.name);
    if (name.name == "torch.nn.MultiheadAttention"
        && !graph.modules().tryGet(node.scope.path + ".linear_Q"))
        plan.remedy.text = "let its projections be quantized: \"custom_modules\": "
                           "[\"torch.nn.MultiheadAttention\"] in the recipe";
    else if (!classBeforeParametrization(name.name).empty())
        plan.remedy.text = removalOfParametrization(graph, node.scope.path);
}

void Reasoner::explainUnmatched(NodePlan& plan, const Node& node, const OpName& name) const
{
    const auto set = [&plan](Verdict verdict, Reason reason) {
        plan.verdict = verdict;
        plan.reason = std::move(reason);
    };
    if (!node.opaqueReason.empty())
        return set(Verdict::Opaque, Reason::of<ReasonCode::Opaque>(node.opaqueReason));
    if (auto why = whyObjectsStayFloat(graph, node)) {
        plan.remedy.text = std::move(why->remedy);
        return set(Verdict::FloatByBackend, std::move(why->reason));
    }
    if (!makesTensor(node))
        return set(Verdict::ShapeOnly, Reason::of<ReasonCode::ComputesNoTensor>());
    if (!readsTensor(graph, node))
        return set(Verdict::ShapeOnly, Reason::of<ReasonCode::ReadsNoTensor>());
    if (readsOnlyStored(graph, node))
        return set(Verdict::ShapeOnly, Reason::of<ReasonCode::ReadsStoredTensorsOnly>());
    if (const ModuleChoice* choice = choices.tryGet(node.id)) {
        plan.remedy.text = choice->remedy;
        return set(Verdict::FloatByRule, choice->reason);
    }
    if (name.kind == OpName::Kind::Inside)
        return explainInside(plan, node, name);
    const auto unit = matches.unitOf.find(node.id);
    const bool fused = unit != matches.unitOf.end() && matches.units[unit->second].fusionEntry >= 0;
    if (fused) {
        const Unit& whole = matches.units[unit->second];
        plan.pattern = whole.names;
        set(Verdict::FloatByBackend,
            Reason::of<ReasonCode::FusionWithoutEntry>(patternText(whole.names), whole.name,
                                                       backend.name));
        plan.remedy.text = "add a pattern [\"" + whole.name + "\"] to the backend";
        return;
    }
    const std::vector<std::string> around = fusableChain(
        graph, node.id, [this](NodeId id) -> const OpName& { return names[graph.position(id)]; });
    set(Verdict::FloatByBackend,
        Reason::of<ReasonCode::NoBackendPattern>(backend.name, patternText(around),
                                                 around.size() > 1 ? name.name : std::string()));
    addBlocked(plan);
    if (!plan.candidates.empty())
        plan.remedy.text = plan.candidates.front().text;
    else if (around.size() > 1)
        plan.remedy.text = "add a fusion " + patternText(around) + " to the backend";
    else
        plan.remedy.text = m_alternatives.suggest(name.name);
}

/// Whether a refused qconfig comes from a global rule that is not meant for the operator, because
/// the backend quantizes only its weight (an embedding).
bool Reasoner::isForOthers(std::size_t match) const
{
    const RuleHits& ruled = hits[verdicts[match].ruledBy];
    const int entry = matches.matches[match].entry;
    if (entry < 0 || ruled.empty()
        || (ruled.front()->kind != RuleKind::Global && !ruled.front()->fromBackend))
        return false;
    const auto& configs = backend.patterns[std::size_t(entry)].dtypeConfigs;
    return !configs.empty()
        && std::none_of(configs.begin(), configs.end(), [](const DTypeConfig& config) {
               return config.isDynamic
                   || (config.input.dtype && isIntegerDType(*config.input.dtype));
           });
}

/// Warns of layers whose weights a parametrization computes: layers that stay float, and layers of
/// which only the weights do.
void Reasoner::warnOfParametrized(std::vector<std::string>& warnings) const
{
    std::vector<std::string> inside, outside;
    const auto note = [](std::vector<std::string>& layers, const std::string& path) {
        if (std::find(layers.begin(), layers.end(), path) == layers.end())
            layers.push_back(path);
    };
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i].kind == OpName::Kind::Inside
            && !classBeforeParametrization(names[i].name).empty())
            note(inside, graph.nodes()[i]->scope.path);
    for (std::size_t i = 0; i < verdicts.size(); ++i)
        if (verdicts[i].remedy.fold && verdicts[i].qconfig.config)
            note(outside, *verdicts[i].remedy.fold);
    for (const auto* layers : {&inside, &outside}) {
        if (layers->empty())
            continue;
        const bool one = layers->size() == 1;
        warnings.push_back(counted(std::int64_t(layers->size()), "layer")
                           + (layers == &inside ? one ? " stays float" : " stay float"
                                  : one         ? " keeps its weight in float"
                                                : " keep their weights in float")
                           + ", as in torch.ao: " + quotedNames(*layers)
                           + (one ? " computes its weight" : " compute their weights")
                           + " by a parametrization such as weight_norm or spectral_norm; "
                           + removalOfParametrization(graph, layers->front()));
    }
}

void Reasoner::warn(const RuleTable& rules, std::vector<std::string>& warnings) const
{
    for (const Rule& rule : rules.unused()) {
        std::string what(ruleKindName(rule.kind));
        what += " rule " + inQuotes(rule.key);
        if (!rule.secondKey.empty())
            what += ", " + inQuotes(rule.secondKey) + ", " + std::to_string(rule.index);
        std::string why = choices.empty() ? "matches no operator"
                                          : "matches no operator that prepare lets be quantized";
        if (rule.kind == RuleKind::ModuleName && !graph.modules().tryGet(rule.key))
            why = "matches nothing: the model has no such module"
                + meant(rule.key, modulePaths(graph));
        else if (rule.kind == RuleKind::Node && !graph.tryFind(rule.key))
            why = "matches nothing: the graph has no such node" + meant(rule.key, nodeNames(graph));
        else if (rule.kind == RuleKind::Edge)
            why = "matches no observed input";
        warnings.push_back(what + " " + why);
    }
    // One line per reason, so that a hundred such layers do not hide other warnings.
    std::vector<std::pair<Reason, std::vector<std::string>>> dropped;
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        if (verdicts[i].verdict != Verdict::FloatByConstraint
            && !(verdicts[i].verdict == Verdict::FloatByBackend && verdicts[i].qconfig.config))
            continue;
        if (isForOthers(i))
            continue;
        const Unit& unit = matches.units[matches.matches[i].units.front()];
        auto same = std::find_if(dropped.begin(), dropped.end(), [&](const auto& group) {
            return group.first == verdicts[i].reason;
        });
        if (same == dropped.end())
            same = dropped.insert(dropped.end(), {verdicts[i].reason, {}});
        same->second.push_back(graph.get(unit.root()).name);
    }
    constexpr std::size_t kReasons = 20;
    for (std::size_t i = 0; i < std::min(dropped.size(), kReasons); ++i)
        warnings.push_back(quotedNames(dropped[i].second)
                           + (dropped[i].second.size() == 1 ? " stays" : " stay")
                           + " float: " + dropped[i].first.text());
    if (dropped.size() > kReasons)
        warnings.push_back(std::to_string(dropped.size() - kReasons)
                           + " more reasons of the same kind keep operators float");
    std::map<std::string, std::vector<std::string>> apart; // by class
    for (const auto& [path, layer] : m_takenApart)
        apart[layer].push_back(path.empty() ? "the model itself" : path);
    for (const auto& [layer, paths] : apart)
        warnings.push_back(quotedNames(paths) + (paths.size() == 1 ? " stays" : " stay")
                           + " float: " + takerOf(graph).name + " decomposed " + layer + "; "
                           + takerOf(graph).remedy);
    warnOfParametrized(warnings);
    for (const auto& [consumer, value] : observers.blindInputs)
        warnings.push_back("input " + inQuotes(graph.value(value).name) + " of "
                           + inQuotes(graph.get(consumer).name)
                           + " is not observed: " + inQuotes(graph.get(value.node).name)
                           + " reuses an observer and finds none; give "
                           + inQuotes(graph.get(value.node).name) + " its own qconfig");
}

} // namespace qs

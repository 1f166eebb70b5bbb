// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/observer_plan.h"

#include "engine/graph/operators/operator_words.h"
#include "engine/plan/match/custom_matches.h"
#include "engine/plan/observer_sites.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace qs {

namespace {

bool isObservedDType(DType dtype)
{
    return isIntegerDType(dtype) || dtype == DType::Float16;
}

// Whether the function's weight stays float for any qconfig.
bool keepsWeightFloat(const OpName& name)
{
    return familyOf(name.base) == OperatorFamily::Norm && !isMainOp("batch_norm", name.base);
}

class ObserverPlanner
{
public:
    ObserverPlanner(const Graph& graph, const OpNames& names, const Matches& matches,
                    const std::vector<Decision>& decisions, RuleTable& rules)
        : m_graph(graph)
        , m_names(names)
        , m_matches(matches)
        , m_decisions(decisions)
        , m_rules(rules)
        , m_sites(graph)
    {
        if (rules.hasEdges())
            readEdgeRules();
    }

    ObserverPlan run()
    {
        m_out.shared.assign(m_matches.matches.size(), false);
        m_out.floating.assign(m_matches.matches.size(), false);
        for (std::size_t u = 0; u < m_matches.units.size(); ++u) {
            const Unit& unit = m_matches.units[u];
            const auto found = m_matches.matchOf.find(unit.root());
            if (found == m_matches.matchOf.end())
                continue;
            const std::size_t match = std::size_t(found->second);
            const Decision& decision = m_decisions[match];
            if (!isObserved(decision))
                continue;
            if (m_matches.matches[match].units.front() == u) {
                observeInputs(m_graph.get(unit.root()), decision);
                for (const Use& use : unit.extraInputs)
                    observeExtra(use, decision);
            }
            if (decision.customModule)
                observeInterior(m_graph.get(unit.root()), decision);
            else if (m_matches.matches[match].units.back() == u)
                observeOutput(unit, match, decision);
        }
        m_out.observers = m_sites.collect();
        return std::move(m_out);
    }

private:
    static bool isObserved(const Decision& decision)
    {
        return decision.quantized
            && decision.observation != ObservationType::InputOutputNotObserved;
    }

    /// Collects the edge rules for inputs of quantized operators.
    void readEdgeRules()
    {
        const auto read = [this](NodeId id, const Use* only) {
            const auto uses = activationUses(m_graph, m_graph.get(id), nameOf(id));
            for (std::size_t i = 0; i < uses.size(); ++i) {
                const auto& [use, value] = uses[i];
                if (only && !(use == *only))
                    continue;
                const Rule* rule
                    = m_rules.edgeRule(m_graph.get(value.node).name, m_graph.get(id).name, int(i));
                if (rule && rule->qconfig.config && isTensor(value))
                    m_edgeRules[value].emplace_back(use, rule);
            }
        };
        for (std::size_t i = 0; i < m_matches.matches.size(); ++i) {
            if (!isObserved(m_decisions[i]))
                continue;
            const Unit& unit = m_matches.units[m_matches.matches[i].units.front()];
            read(unit.root(), nullptr);
            for (const Use& use : unit.extraInputs)
                read(use.node, &use);
        }
    }

    /// The edge rule of the first reader if all readers have a rule with the same activation spec;
    /// else null.
    const Rule* ruleOfAllReaders(ValueRef value) const
    {
        const auto found = m_edgeRules.find(value);
        if (found == m_edgeRules.end())
            return nullptr;
        const Rule* first = found->second.front().second;
        const ObserverSpec& spec = first->qconfig.config->activation;
        if (spec.isDynamic || spec.kind == ObserverKind::ReuseInput || !isObservedDType(spec.dtype))
            return nullptr;
        for (const Use& use : m_graph.users(value)) {
            const bool same
                = std::any_of(found->second.begin(), found->second.end(), [&](const auto& reading) {
                      return reading.first == use
                          && reading.second->qconfig.config->activation == spec;
                  });
            if (!same)
                return nullptr;
        }
        return first;
    }

    const OpName& nameOf(NodeId id) const { return m_names[m_graph.position(id)]; }

    bool isTensor(ValueRef ref) const { return m_graph.value(ref).type.mayBeFloat(); }

    DType producedDType(ValueRef ref) const
    {
        const auto found = m_produced.find(ref);
        return found == m_produced.end() ? DType::Float32 : found->second;
    }

    void observeInputs(const Node& node, const Decision& decision)
    {
        const OpName& name = nameOf(node.id);
        const CustomModulePtr module
            = decision.customModule ? customModuleOf(node, name) : CustomModulePtr();
        const std::vector<ValueRef> own
            = module ? module->weights(m_graph, node) : std::vector<ValueRef>();
        const std::vector<ValueRef> carried
            = module ? module->carried(node) : std::vector<ValueRef>();
        const bool readsQuantized = !module || isStatic(decision);
        int inputIndex = 0;
        bool first = true;
        for (std::uint32_t a = 0; a < node.args.size(); ++a) {
            const ArgumentRole role = argumentRole(node, name, a);
            forEachRef(node.args[a].value, [&](ValueRef ref) {
                const bool zeroth = std::exchange(first, false);
                if (!isTensor(ref)) {
                    // Edge rules count tensors of other types too.
                    inputIndex += role == ArgumentRole::Activation && !isOwnTensor(ref, name)
                        && m_graph.value(ref).type.kind == ValueKind::Tensor;
                    return;
                }
                const bool listed = module ? std::find(own.begin(), own.end(), ref) != own.end()
                                           : isListedWeight(node, a, ref);
                if (role == ArgumentRole::Weight || listed)
                    observeWeight(node, a, ref, decision);
                else if (role == ArgumentRole::Activation && !isOwnTensor(ref, name)
                         && readsQuantized
                         && std::find(carried.begin(), carried.end(), ref) == carried.end())
                    observeInput(node, a, ref, decision, zeroth, inputIndex++);
            });
        }
    }

    /// Observes a further input of a fusion, which one of its inner operators reads.
    void observeExtra(const Use& use, const Decision& decision)
    {
        const auto uses = activationUses(m_graph, m_graph.get(use.node), nameOf(use.node));
        for (std::size_t i = 0; i < uses.size(); ++i)
            if (uses[i].first == use && isTensor(uses[i].second))
                observeInput(m_graph.get(use.node), use.argument, uses[i].second, decision, false,
                             int(i));
    }

    /// Whether an argument is a weight of a recurrent network, whose list also has biases
    /// (vectors).
    bool isListedWeight(const Node& node, std::uint32_t argument, ValueRef ref) const
    {
        return node.args[argument].name == "params" && node.args[argument].value.asList()
            && m_graph.value(ref).type.shape.size() == 2;
    }

    bool isStored(ValueRef ref) const { return m_graph.get(ref.node).isStored(); }
    bool isOwnTensor(ValueRef ref, const OpName& name) const
    {
        return name.isModule() && isStored(ref);
    }

    /// The stored weight from which `ref` comes, through the transpositions of core ATen.
    ValueRef storedWeight(ValueRef ref, Use& reader) const
    {
        while (!isStored(ref)) {
            const Node& node = m_graph.get(ref.node);
            const ValueRef* next = node.args.empty() ? nullptr : node.args[0].value.asRef();
            if (node.kind != NodeKind::Op || !next
                || (nameOf(node.id).base != "t" && !isMainOp("transpose", nameOf(node.id).base)))
                return {};
            reader = {node.id, 0};
            ref = *next;
        }
        return ref;
    }

    void observeWeight(const Node& node, std::uint32_t argument, ValueRef ref,
                       const Decision& decision)
    {
        const OpName& name = nameOf(node.id);
        const bool wanted = name.isModule() ? decision.observeWeight : !keepsWeightFloat(name);
        if (!wanted || !isObservedDType(decision.qconfig->weight.dtype))
            return;
        ObserverSite site;
        site.spec = decision.qconfig->weight;
        site.rule = decision.rule;
        Use reader {node.id, argument};
        if (const ValueRef stored = storedWeight(ref, reader)) {
            if (m_sites.isRead(reader, stored))
                return; // the same tensor twice in one list
            site.value = stored;
            site.weightOwner = node.id;
        } else if (name.isModule() && isComputedWeight(m_graph, node, ref)) {
            site.value = ref; // weight_norm: preparing folds it
            site.weightOwner = node.id;
        } else if (producedDType(ref) != site.spec.dtype) {
            site.value = ref; // computed by the model itself: observed while it runs
        } else {
            return;
        }
        site.readers = {reader};
        const std::size_t index = m_sites.add(std::move(site));
        m_sites.setRead(reader, m_sites[index].value, index);
        if (!m_sites[index].weightOwner)
            m_inputSites[ref].push_back(index);
    }

    void observeInput(const Node& node, std::uint32_t argument, ValueRef ref,
                      const Decision& decision, bool zeroth, int inputIndex)
    {
        const Rule* rule = m_rules.edgeRule(m_graph.get(ref.node).name, node.name, inputIndex);
        const bool special = rule && rule->qconfig.config;
        if (special)
            m_out.inputRules[node.id].push_back(*rule);
        if (special && m_observedAsRead.contains(ref))
            return;
        const ObserverSpec& spec
            = special ? rule->qconfig.config->activation : decision.qconfig->activation;
        if (spec.kind == ObserverKind::ReuseInput || !isObservedDType(spec.dtype))
            return;
        if (spec.isDynamic ? !zeroth : !special && producedDType(ref) == spec.dtype) {
            if (m_blind.count(ref))
                m_out.blindInputs.emplace_back(node.id, ref);
            return;
        }
        const Use reader {node.id, argument};
        std::size_t index = m_sites.size();
        for (const std::size_t candidate : m_inputSites[ref]) {
            const ObserverSite& site = m_sites[candidate];
            const bool same = special || site.fromEdgeRule
                ? site.spec == spec && special == site.fromEdgeRule
                : site.spec.kind == spec.kind && site.spec.dtype == spec.dtype;
            if (same && !site.weightOwner) {
                index = candidate;
                break;
            }
        }
        if (index == m_sites.size()) {
            ObserverSite site;
            site.value = ref;
            site.spec = spec;
            site.rule = special ? rule : decision.rule;
            site.fromEdgeRule = special;
            m_sites.add(std::move(site));
            m_inputSites[ref].push_back(index);
        }
        auto& readers = m_sites[index].readers;
        if (std::find(readers.begin(), readers.end(), reader) == readers.end())
            readers.push_back(reader);
        m_sites.setRead(reader, ref, index);
    }

    void observeOutput(const Unit& unit, std::size_t match, const Decision& decision)
    {
        const ValueRef value {unit.last(), 0};
        const ObserverSpec& spec = decision.qconfig->activation;
        if (m_graph.get(unit.last()).outputs.empty() || !isTensor(value) || spec.isDynamic
            || !isObservedDType(spec.dtype))
            return;
        if (decision.floatResult)
            return m_sites.setFloat(value);
        const bool shares = spec.kind == ObserverKind::ReuseInput
            || decision.observation == ObservationType::OutputShareObserver;
        const Rule* asRead = shares ? nullptr : ruleOfAllReaders(value);
        ObserverSite site;
        site.value = value;
        site.output = true;
        site.spec = asRead ? asRead->qconfig.config->activation : spec;
        site.rule = asRead ? asRead : decision.rule;
        m_produced[value] = site.spec.dtype;
        if (asRead)
            m_observedAsRead.insert(value);
        const std::size_t index = m_sites.add(std::move(site));
        m_sites.setOutput(value, index);
        if (!shares)
            return;
        const ObserverSites::Sharing sharing = m_sites.share(m_graph.get(unit.root()), index);
        if (sharing == ObserverSites::Sharing::Done) {
            m_out.shared[match] = m_sites[index].instance != index;
            return;
        }
        m_sites.removeOutput(value, index);
        if (sharing == ObserverSites::Sharing::FloatBefore) {
            m_produced.erase(value);
            m_sites.setFloat(value);
            m_out.floating[match] = true;
            return;
        }
        // The value stays float. As in torch.ao, its readers still assume that it is quantized.
        m_out.floating[match] = true;
        m_blind.insert(value);
    }

    static bool isStatic(const Decision& decision)
    {
        const auto mode = quantizationMode(*decision.qconfig);
        return mode && *mode == QuantizationMode::Static;
    }

    /// Observes a custom module inside. Its results are quantized, each with the parameters of a
    /// value inside.
    void observeInterior(const Node& node, const Decision& decision)
    {
        if (!isStatic(decision))
            return;
        const CustomModulePtr module = customModuleOf(node, nameOf(node.id));
        std::unordered_map<std::string, std::size_t> inside;
        for (std::string& name : module->interiors(node)) {
            ObserverSite site;
            site.spec = decision.qconfig->activation;
            site.rule = decision.rule;
            site.weightOwner = node.id;
            site.interior = name;
            inside[std::move(name)] = m_sites.add(std::move(site));
        }
        const std::vector<std::string> made = module->outputs(node);
        for (std::uint32_t i = 0; i < node.outputs.size() && i < made.size(); ++i) {
            const ValueRef value {node.id, i};
            if (made[i].empty())
                continue;
            m_produced[value] = decision.qconfig->activation.dtype;
            if (m_graph.users(value).empty())
                continue;
            ObserverSite site;
            site.value = value;
            site.output = true;
            site.spec = decision.qconfig->activation;
            site.rule = decision.rule;
            const std::size_t index = m_sites.add(std::move(site));
            m_sites[index].instance = inside.at(made[i]);
            m_sites.setOutput(value, index);
        }
    }

    const Graph& m_graph;
    const OpNames& m_names;
    const Matches& m_matches;
    const std::vector<Decision>& m_decisions;
    RuleTable& m_rules;
    ObserverPlan m_out;
    ObserverSites m_sites;
    std::unordered_map<ValueRef, std::vector<std::size_t>> m_inputSites;
    /// By value: its readers with an edge rule.
    std::unordered_map<ValueRef, std::vector<std::pair<Use, const Rule*>>> m_edgeRules;
    std::unordered_set<ValueRef> m_observedAsRead; ///< observed by the edge rules of all readers
    std::unordered_set<ValueRef> m_blind; ///< assumed to be quantized, but not observed
    std::unordered_map<ValueRef, DType> m_produced; ///< type that readers get; absent = float32
};

} // namespace

ObserverPlan planObservers(const Graph& graph, const OpNames& names, const Matches& matches,
                           const std::vector<Decision>& decisions, RuleTable& rules)
{
    return ObserverPlanner(graph, names, matches, decisions, rules).run();
}

} // namespace qs

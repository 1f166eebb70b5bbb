// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/observer_plan.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace qs {

namespace {

/// One argument of one node, and the value it reads there.
struct Reading
{
    NodeId node;
    std::uint32_t argument = 0;
    ValueRef ref;
    friend bool operator==(const Reading&, const Reading&) = default;
};

struct ReadingHash
{
    std::size_t operator()(const Reading& reading) const
    {
        return std::hash<ValueRef>()(reading.ref) * 31 + reading.node.value() * 7
            + reading.argument;
    }
};

/// One place where an observer sits. Several sites may be one instance.
struct Site
{
    ValueRef value;
    bool output = false; ///< on the value for all readers; else for `readers` only
    std::vector<Use> readers;
    ObserverSpec spec;
    std::size_t instance = 0; ///< the site whose observer this one uses
    bool removed = false;
    bool fromEdgeRule = false;
    NodeId weightOwner;
};

bool isObservedDType(DType dtype)
{
    return isIntegerDType(dtype) || dtype == DType::Float16;
}

// The weights of these functions stay float whatever the qconfig says.
bool keepsWeightFloat(const OpName& name)
{
    return name.base == "layer_norm" || name.base == "group_norm" || name.base == "instance_norm"
        || name.base == "native_layer_norm" || name.base == "native_group_norm";
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
    {
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
            if (!decision.quantized
                || decision.observation == ObservationType::InputOutputNotObserved)
                continue;
            if (m_matches.matches[match].units.front() == u) {
                observeInputs(m_graph.get(unit.root()), decision);
                for (const Use& use : unit.extraInputs)
                    observeExtra(use, decision);
            }
            if (m_matches.matches[match].units.back() == u)
                observeOutput(unit, match, decision);
        }
        collect();
        return std::move(m_out);
    }

private:
    const OpName& nameOf(NodeId id) const { return m_names[m_graph.position(id)]; }

    bool isTensor(ValueRef ref) const
    {
        const ValueType& type = m_graph.value(ref).type;
        return type.kind == ValueKind::Tensor
            && (type.dtype == DType::Unknown || isFloating(type.dtype));
    }

    std::size_t addSite(Site site)
    {
        site.instance = m_sites.size();
        m_sites.push_back(std::move(site));
        return m_sites.size() - 1;
    }

    DType producedDType(ValueRef ref) const
    {
        const auto found = m_produced.find(ref);
        return found == m_produced.end() ? DType::Float32 : found->second;
    }

    void observeInputs(const Node& node, const Decision& decision)
    {
        const OpName& name = nameOf(node.id);
        int inputIndex = 0;
        bool first = true;
        for (std::uint32_t a = 0; a < node.args.size(); ++a) {
            const ArgumentRole role = argumentRole(node, name, a);
            forEachRef(node.args[a].value, [&](ValueRef ref) {
                const bool zeroth = std::exchange(first, false);
                if (!isTensor(ref))
                    return;
                if (role == ArgumentRole::Weight || isListedWeight(node, a, ref))
                    observeWeight(node, a, ref, decision);
                else if (role == ArgumentRole::Activation && !isOwnTensor(ref, name))
                    observeInput(node, a, ref, decision, zeroth, inputIndex++);
            });
        }
    }

    /// A further input of a fusion: read by one of its inner operators.
    void observeExtra(const Use& use, const Decision& decision)
    {
        const auto uses = activationUses(m_graph, m_graph.get(use.node), nameOf(use.node));
        for (std::size_t i = 0; i < uses.size(); ++i)
            if (uses[i].first == use && isTensor(uses[i].second))
                observeInput(m_graph.get(use.node), use.argument, uses[i].second, decision, false,
                             int(i));
    }

    /// The weights of a recurrent network stand in one list with its biases, which are vectors.
    bool isListedWeight(const Node& node, std::uint32_t argument, ValueRef ref) const
    {
        return node.args[argument].name == "params" && node.args[argument].value.asList()
            && m_graph.value(ref).type.shape.size() == 2;
    }

    bool isStored(ValueRef ref) const
    {
        const NodeKind kind = m_graph.get(ref.node).kind;
        return kind == NodeKind::Parameter || kind == NodeKind::Constant;
    }
    bool isOwnTensor(ValueRef ref, const OpName& name) const
    {
        return name.isModule() && isStored(ref);
    }

    /// The stored weight beneath `ref`, seen through the transpositions of core ATen's spelling.
    ValueRef storedWeight(ValueRef ref, Use& reader) const
    {
        while (!isStored(ref)) {
            const Node& node = m_graph.get(ref.node);
            const ValueRef* next = node.args.empty() ? nullptr : node.args[0].value.asRef();
            if (node.kind != NodeKind::Op || !next
                || (nameOf(node.id).base != "permute" && nameOf(node.id).base != "t"
                    && nameOf(node.id).base != "transpose"))
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
        Site site;
        site.spec = decision.qconfig->weight;
        Use reader {node.id, argument};
        if (const ValueRef stored = storedWeight(ref, reader)) {
            if (m_reads.count({reader.node, reader.argument, stored}))
                return; // the same tensor twice in one list
            site.value = stored;
            site.weightOwner = node.id;
        } else if (producedDType(ref) != site.spec.dtype) {
            site.value = ref; // computed by the model itself: observed while it runs
        } else {
            return;
        }
        site.readers = {reader};
        const std::size_t index = addSite(std::move(site));
        m_reads[{reader.node, reader.argument, m_sites[index].value}] = index;
        if (!m_sites[index].weightOwner)
            m_inputSites[ref].push_back(index);
    }

    void observeInput(const Node& node, std::uint32_t argument, ValueRef ref,
                      const Decision& decision, bool zeroth, int inputIndex)
    {
        const Rule* rule = m_rules.edgeRule(m_graph.get(ref.node).name, node.name, inputIndex);
        const bool special = rule && rule->qconfig.config;
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
            const Site& site = m_sites[candidate];
            const bool same = special || site.fromEdgeRule
                ? site.spec == spec && special == site.fromEdgeRule
                : site.spec.kind == spec.kind && site.spec.dtype == spec.dtype;
            if (same && !site.weightOwner) {
                index = candidate;
                break;
            }
        }
        if (index == m_sites.size()) {
            Site site;
            site.value = ref;
            site.spec = spec;
            site.fromEdgeRule = special;
            addSite(std::move(site));
            m_inputSites[ref].push_back(index);
        }
        auto& readers = m_sites[index].readers;
        if (std::find(readers.begin(), readers.end(), reader) == readers.end())
            readers.push_back(reader);
        m_reads[{node.id, argument, ref}] = index;
    }

    void observeOutput(const Unit& unit, std::size_t match, const Decision& decision)
    {
        const ValueRef value {unit.last(), 0};
        const ObserverSpec& spec = decision.qconfig->activation;
        if (m_graph.get(unit.last()).outputs.empty() || !isTensor(value) || spec.isDynamic
            || !isObservedDType(spec.dtype))
            return;
        m_produced[value] = spec.dtype;
        Site site;
        site.value = value;
        site.output = true;
        site.spec = spec;
        const std::size_t index = addSite(std::move(site));
        m_outputSites[value] = index;
        const bool reuse = spec.kind == ObserverKind::ReuseInput;
        if (!reuse && decision.observation != ObservationType::OutputShareObserver)
            return;
        if (share(m_graph.get(unit.root()), index)) {
            m_out.shared[match] = true;
            return;
        }
        m_sites[index].removed = true;
        m_outputSites.erase(value);
        // The value stays float. As in torch.ao its readers go on believing that it is quantized.
        m_out.floating[match] = true;
        m_blind.insert(value);
    }

    /// The observer that argument `argument` of `node` reads `ref` through; none = size().
    std::size_t siteRead(NodeId node, std::uint32_t argument, ValueRef ref) const
    {
        if (const auto read = m_reads.find({node, argument, ref}); read != m_reads.end())
            return read->second;
        if (const auto output = m_outputSites.find(ref); output != m_outputSites.end())
            return output->second;
        return m_sites.size();
    }

    /// The nearest observer upstream of that reading: through each producer's first value argument,
    /// or strictly its first argument.
    std::size_t siteUpstream(NodeId node, std::uint32_t argument, ValueRef ref, bool strict) const
    {
        for (;;) {
            const std::size_t site = siteRead(node, argument, ref);
            if (site < m_sites.size())
                return site;
            const Node& producer = m_graph.get(ref.node);
            if (producer.kind != NodeKind::Op)
                return m_sites.size();
            const ValueRef* next = nullptr;
            for (std::uint32_t a = 0; a < producer.args.size() && !next; ++a) {
                next = producer.args[a].value.asRef();
                argument = a;
                if (strict)
                    break;
            }
            if (!next)
                return m_sites.size();
            node = producer.id;
            ref = *next;
        }
    }

    /// Makes the output's site and the node's inputs use the first input's observer.
    bool share(const Node& node, std::size_t output)
    {
        for (std::uint32_t a = 0; a < node.args.size(); ++a) {
            const Argument& argument = node.args[a].value;
            const auto* list = argument.asList();
            if (!argument.asRef() && !(list && !list->empty() && list->front().asRef()))
                continue;
            const ValueRef firstRef = list ? *list->front().asRef() : *argument.asRef();
            const std::size_t first = siteUpstream(node.id, a, firstRef, false);
            if (first == m_sites.size())
                return false;
            const std::size_t instance = m_sites[first].instance;
            for (std::size_t i = 1; list && i < list->size(); ++i) {
                const ValueRef* ref = (*list)[i].asRef();
                if (!ref)
                    return false;
                const std::size_t other = siteUpstream(node.id, a, *ref, true);
                if (other == m_sites.size())
                    return false;
                m_sites[other].instance = instance;
            }
            m_sites[output].instance = instance;
            return true;
        }
        return false;
    }

    ObservedEdge edgeOf(const Site& site) const
    {
        ObservedEdge edge {site.value, site.readers};
        if (site.output || site.weightOwner)
            return edge;
        // Where everybody reads through this one observer, it sits on the value itself.
        const auto users = m_graph.users(site.value);
        const bool everybody = std::all_of(users.begin(), users.end(), [&](const Use& use) {
            return std::find(site.readers.begin(), site.readers.end(), use) != site.readers.end();
        });
        if (everybody && !m_outputSites.count(site.value) && !site.fromEdgeRule)
            edge.readers.clear();
        return edge;
    }

    void collect()
    {
        std::map<std::size_t, PlannedObserver> byInstance;
        for (const Site& site : m_sites) {
            if (site.removed)
                continue;
            const Site& own = m_sites[site.instance];
            PlannedObserver& observer = byInstance[site.instance];
            observer.spec = own.spec;
            observer.isWeight = bool(own.weightOwner);
            observer.weightOwner = own.weightOwner;
            observer.edges.push_back(edgeOf(site));
        }
        for (auto& [instance, observer] : byInstance) {
            std::stable_sort(observer.edges.begin(), observer.edges.end(),
                             [this](const ObservedEdge& a, const ObservedEdge& b) {
                                 return m_graph.position(a.value.node)
                                     < m_graph.position(b.value.node);
                             });
            observer.id = ObserverId(std::uint32_t(m_out.observers.size() + 1));
            m_out.observers.push_back(std::move(observer));
        }
    }

    const Graph& m_graph;
    const OpNames& m_names;
    const Matches& m_matches;
    const std::vector<Decision>& m_decisions;
    RuleTable& m_rules;
    ObserverPlan m_out;
    std::vector<Site> m_sites;
    std::unordered_map<ValueRef, std::size_t> m_outputSites;
    std::unordered_map<ValueRef, std::vector<std::size_t>> m_inputSites;
    std::unordered_map<Reading, std::size_t, ReadingHash> m_reads;
    std::unordered_set<ValueRef> m_blind; ///< taken for quantized, but nothing observes it
    std::unordered_map<ValueRef, DType> m_produced; ///< what readers may count on; absent = float32
};

} // namespace

ObserverPlan planObservers(const Graph& graph, const OpNames& names, const Matches& matches,
                           const std::vector<Decision>& decisions, RuleTable& rules)
{
    return ObserverPlanner(graph, names, matches, decisions, rules).run();
}

} // namespace qs

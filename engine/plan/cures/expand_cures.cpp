// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/cures/expand_cures.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/edit/edit_functions.h"
#include "engine/graph/operators/operators.h"
#include "engine/plan/rules/edge_rules.h"
#include "engine/plan/rules/node_rules.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace qs {

namespace {

constexpr const char* kRunAgain = "make it again with 'tune', or take it out of the recipe";

std::vector<float> floatsOf(const NpyArray& array)
{
    std::vector<float> values(array.bytes.size() / sizeof(float));
    std::memcpy(values.data(), array.bytes.data(), values.size() * sizeof(float));
    return values;
}

bool isSamePlace(const Rule& a, const Rule& b)
{
    return a.kind == b.kind && a.key == b.key && a.secondKey == b.secondKey && a.index == b.index;
}

/// Applies the cures in order; each sees the decisions of earlier ones.
class CureWalk
{
public:
    CureWalk(const Graph& graph, const Plan& uncured, CureExpansion& out)
        : m_graph(graph)
        , m_uncured(uncured)
        , m_out(out)
    {
    }

    /// Adds the rules of the cure. Returns why it does not fit; "" if it does.
    std::string add(const Cure& cure, const CurePlace& place)
    {
        m_cure = place.cure;
        switch (cure.kind) {
        case CureKind::Float:
            for (const NodeId node : place.nodes)
                decide(node, {});
            return {};
        case CureKind::FloatResult:
            return addFloatResult(place.at.node);
        case CureKind::Dynamic:
            return addDynamic(cure, place.at.node);
        case CureKind::Range:
            return addRange(cure, place);
        case CureKind::Split:
            return addSplit(cure, place);
        case CureKind::Round:
        case CureKind::Bias:
            return addNumbers(cure, place);
        case CureKind::Smooth:
            for (const NodeId node : place.added)
                decide(node, {}); // it runs before the quantizer
            return {};
        case CureKind::Bound:
        case CureKind::Equalize:
        case CureKind::Train:
            break;
        }
        return {};
    }

    /// Removes rules on inputs of operators that a cure keeps float, since these read floats.
    void dropRulesOfFloats()
    {
        std::set<std::string> floats;
        for (const auto& [node, qconfig] : m_decided)
            if (!qconfig.config)
                floats.insert(m_graph.get(node).name);
        const auto isIdle = [&](const Rule& rule) {
            return rule.kind == RuleKind::Edge && floats.contains(rule.secondKey);
        };
        for (const CureRule& own : m_out.rules)
            if (isIdle(own.rule))
                std::erase_if(m_out.recipe.mapping.rules,
                              [&](const Rule& rule) { return isSamePlace(rule, own.rule); });
        std::erase_if(m_out.rules, [&](const CureRule& own) { return isIdle(own.rule); });
    }

private:
    std::string nameOf(NodeId node) const { return inQuotes(m_graph.get(node).name); }

    /// The node's qconfig from the cures so far, else from the mapping.
    NamedQConfig decided(NodeId node) const
    {
        if (const auto found = m_decided.find(node); found != m_decided.end())
            return found->second;
        const NodePlan* plan = m_uncured.tryGet(m_graph, node);
        return plan ? NamedQConfig {plan->qconfigName, plan->qconfig} : NamedQConfig();
    }

    /// Why the node has no qconfig.
    std::string whyFloat(NodeId node) const
    {
        const NodePlan* plan = m_uncured.tryGet(m_graph, node);
        const std::string why = plan ? plan->reason.text() : std::string();
        return nameOf(node) + " stays float" + (why.empty() ? "" : ": " + why);
    }

    void push(Rule rule)
    {
        m_out.rules.push_back({rule, m_cure});
        m_out.recipe.mapping.rules.push_back(std::move(rule));
    }

    /// Adds a rule for the node and the nodes fused with it.
    void decide(NodeId node, const NamedQConfig& qconfig)
    {
        for (const NodeId member : decidedTogether(m_graph, m_uncured, node)) {
            m_decided[member] = qconfig;
            Rule rule;
            rule.kind = RuleKind::Node;
            rule.key = m_graph.get(member).name;
            rule.qconfig = qconfig;
            push(std::move(rule));
        }
    }

    /// Removes edge rules that a cure overrides, except null rules, which decide about the reader.
    template<class IsAbove>
    void dropEdgeRules(const IsAbove& isAbove)
    {
        std::erase_if(m_out.recipe.mapping.rules, [&](const Rule& rule) {
            return rule.kind == RuleKind::Edge && !rule.atConvert && rule.qconfig.config
                && isAbove(rule);
        });
    }

    std::string addFloatResult(NodeId node)
    {
        NamedQConfig qconfig = decided(node);
        if (!qconfig.config)
            return whyFloat(node);
        const std::vector<NodeId> members = decidedTogether(m_graph, m_uncured, node);
        if (std::none_of(members.begin(), members.end(), [this](NodeId member) {
                return functionalFactsOf(m_graph.get(member).target).weighted != OperatorWeight::No;
            }))
            return nameOf(node) + " has no weight: only such layers have a float result";
        QConfig changed = *qconfig.config;
        changed.floatResult = true;
        qconfig.config = std::move(changed);
        decide(node, qconfig);
        return {};
    }

    /// Adds, for each split linear, a float result and an input range for the integer part, whose
    /// result a float addition reads; then rules for the float parts.
    std::string addSplit(const Cure& cure, const CurePlace& place)
    {
        const auto qconfig = findQConfig(m_out.recipe, cure.qconfig);
        if (!cure.qconfig.empty() && !qconfig)
            return unknownQConfig(cure.qconfig);
        std::vector<Edge> edges;
        for (const NodeId linear : place.nodes) {
            if (!decided(linear).config)
                continue; // everything is float
            if (std::string problem = addFloatResult(linear); !problem.empty())
                return problem;
            const NodePlan* plan = m_uncured.tryGet(m_graph, linear);
            if (plan && !plan->activations.empty())
                edges.push_back(
                    {plan->activations.front().second, plan->activations.front().first});
        }
        for (const NodeId node : place.added)
            decide(node, {});
        return cure.qconfig.empty() ? std::string() : addEdges(edges, {cure.qconfig, *qconfig});
    }

    /// Reads the numbers of the layers that are quantized.
    std::string addNumbers(const Cure& cure, const CurePlace& place)
    {
        if (const auto kept = checkRecorded(cure.file, cure.sha256, "cure", kRunAgain); !kept)
            return kept.error().line();
        std::vector<std::string> layers {addressText(cure.at)};
        for (const ValueAddress& address : cure.nodes)
            layers.push_back(addressText(address));
        auto read = readLayerNumbers(cure.file, layers);
        if (!read)
            return read.error().line();
        for (std::size_t i = 0; i < layers.size(); ++i) {
            LayerNumbers& numbers = (*read)[i];
            numbers.layer = place.nodes.at(i);
            const bool rounds = cure.kind == CureKind::Round;
            if (rounds ? !numbers.steps : !numbers.shift)
                return cure.file + " has no numbers of this kind for " + inQuotes(layers[i]);
            if (rounds)
                numbers.shift.reset();
            else
                numbers.steps = numbers.scales = std::nullopt;
            if (!decided(numbers.layer).config)
                continue; // everything is float
            if (std::string problem = mergeNumbers(std::move(numbers)); !problem.empty())
                return problem;
        }
        return {};
    }

    /// Adds a layer's numbers to those of earlier cures.
    std::string mergeNumbers(LayerNumbers added)
    {
        const auto known
            = std::find_if(m_out.numbers.begin(), m_out.numbers.end(),
                           [&](const LayerNumbers& one) { return one.layer == added.layer; });
        if (known == m_out.numbers.end()) {
            m_out.numbers.push_back(std::move(added));
            return {};
        }
        if (added.steps) {
            known->steps = std::move(added.steps);
            known->scales = std::move(added.scales);
        }
        if (!added.shift)
            return {};
        if (!known->shift) {
            known->shift = std::move(added.shift);
            return {};
        }
        if (known->shift->bytes.size() != added.shift->bytes.size())
            return "another cure corrects another number of channels of " + nameOf(added.layer);
        std::vector<float> sums = floatsOf(*known->shift);
        const std::vector<float> more = floatsOf(*added.shift);
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += more[i];
        known->shift = npyFrom(known->shift->name, sums);
        return {};
    }

    std::string addDynamic(const Cure& cure, NodeId node)
    {
        const auto qconfig = findQConfig(m_out.recipe, cure.qconfig);
        if (!qconfig)
            return unknownQConfig(cure.qconfig);
        if (!qconfig->activation.isDynamic)
            return "qconfig " + inQuotes(cure.qconfig) + " chooses its ranges before the run";
        for (const NodeId member : decidedTogether(m_graph, m_uncured, node))
            dropEdgeRules(
                [&](const Rule& rule) { return rule.secondKey == m_graph.get(member).name; });
        decide(node, {cure.qconfig, *qconfig});
        return {};
    }

    std::string unknownQConfig(const std::string& name) const
    {
        std::vector<std::string> known = presetNames();
        for (const auto& [own, qconfig] : m_out.recipe.qconfigs)
            known.push_back(own);
        return "unknown qconfig " + inQuotes(name) + "; " + suggestName(name, known);
    }

    std::string addRange(const Cure& cure, const CurePlace& place)
    {
        const auto qconfig = findQConfig(m_out.recipe, cure.qconfig);
        if (!qconfig)
            return unknownQConfig(cure.qconfig);
        if (!place.readers.empty()) {
            std::vector<Edge> edges;
            for (const Use& reader : place.readers)
                edges.push_back({place.at, reader});
            return addEdges(edges, {cure.qconfig, *qconfig});
        }
        if (!isQuantizedWhereMade(place.at)) {
            const std::vector<Edge> edges = edgesOf(m_graph, m_uncured, place.at);
            return edges.empty() ? "no operator reads it as a value that can be quantized"
                                 : addEdges(edges, {cure.qconfig, *qconfig});
        }
        const NodeId node = place.at.node;
        const NodePlan* plan = m_uncured.tryGet(m_graph, node);
        if (plan && plan->verdict == Verdict::Shared)
            return nameOf(node) + " shares the range of what it reads; cure that value";
        NamedQConfig changed {cure.qconfig, *decided(node).config};
        QConfig own = *changed.config;
        own.activation = qconfig->activation;
        changed.config = std::move(own);
        const std::string& maker = m_graph.get(node).name;
        dropEdgeRules([&](const Rule& rule) { return rule.key == maker; });
        decide(node, changed);
        return {};
    }

    /// Whether the producer's qconfig quantizes the value, which is its only output.
    bool isQuantizedWhereMade(ValueRef value) const
    {
        const NodePlan* plan = m_uncured.tryGet(m_graph, value.node);
        return plan && plan->quantized && decided(value.node).config
            && m_graph.get(value.node).outputs.size() == 1;
    }

    std::string addEdges(const std::vector<Edge>& edges, const NamedQConfig& qconfig)
    {
        std::vector<Rule> rules;
        for (const Edge& edge : edges) {
            const NodePlan* reader = m_uncured.tryGet(m_graph, edge.reader.node);
            const auto uses = reader ? reader->activations : decltype(reader->activations)();
            const auto found
                = std::find(uses.begin(), uses.end(), std::pair(edge.reader, edge.value));
            if (found == uses.end())
                return nameOf(edge.reader.node) + " does not read it as a value to quantize";
            Rule& rule = rules.emplace_back();
            rule.kind = RuleKind::Edge;
            rule.key = m_graph.get(edge.value.node).name;
            rule.secondKey = m_graph.get(edge.reader.node).name;
            rule.index = int(found - uses.begin());
            rule.qconfig = qconfig;
        }
        for (Rule& rule : rules) {
            dropEdgeRules([&](const Rule& other) { return isSamePlace(rule, other); });
            push(std::move(rule));
        }
        return {};
    }

    const Graph& m_graph;
    const Plan& m_uncured;
    CureExpansion& m_out;
    std::size_t m_cure = 0;
    std::map<NodeId, NamedQConfig> m_decided;
};

} // namespace

int CureExpansion::cureOf(const Rule& rule) const
{
    for (auto own = rules.rbegin(); own != rules.rend(); ++own)
        if (isSamePlace(own->rule, rule))
            return int(own->cure);
    return -1;
}

std::vector<NodeId> CureExpansion::nodesOf(std::size_t cure) const
{
    const auto place = std::find_if(places.begin(), places.end(),
                                    [cure](const CurePlace& p) { return p.cure == cure; });
    if (place == places.end() || !place->problem.empty())
        return {};
    if (!place->nodes.empty())
        return place->nodes;
    return place->at ? std::vector<NodeId> {place->at.node} : std::vector<NodeId>();
}

CureExpansion expandCures(const Graph& graph, const Plan& uncured, const Recipe& recipe,
                          const std::vector<CurePlace>& places, const OperatorNames& names)
{
    CureExpansion out;
    out.recipe = recipe;
    out.recipe.cures.clear();
    out.places = places;
    CureWalk walk(graph, uncured, out);
    for (CurePlace& place : out.places) {
        const Cure& cure = recipe.cures.at(place.cure);
        if (cure.off)
            continue;
        if (place.problem.empty()) // a bound is already in the graph
            place.problem = walk.add(cure, place);
        if (!place.problem.empty())
            out.problems.push_back(unfitCureLine(cureText(cure, names), place.problem));
    }
    walk.dropRulesOfFloats();
    return out;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/rules/edge_rules.h"

#include "engine/base/text.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

std::optional<int> indexOf(const NodePlan* reader, const Edge& edge)
{
    if (!reader)
        return std::nullopt;
    const auto& uses = reader->activations;
    const auto found = std::find(uses.begin(), uses.end(), std::pair(edge.reader, edge.value));
    return found == uses.end() ? std::nullopt : std::optional(int(found - uses.begin()));
}

/// The observer of the value itself, for all its readers.
ObserverId onValue(const Plan& plan, ValueRef value)
{
    for (const PlannedObserver& observer : plan.observers)
        for (const ObservedEdge& edge : observer.edges)
            if (!observer.isWeight && edge.value == value && edge.readers.empty())
                return observer.id;
    return {};
}

/// The observer for that edge only.
ObserverId onReading(const Plan& plan, const Edge& wanted)
{
    for (const PlannedObserver& observer : plan.observers)
        for (const ObservedEdge& edge : observer.edges)
            if (edge.value == wanted.value
                && std::find(edge.readers.begin(), edge.readers.end(), wanted.reader)
                    != edge.readers.end())
                return observer.id;
    return {};
}

bool isOfEdge(const Rule& rule, const Graph& graph, const Edge& edge, int index)
{
    return rule.kind == RuleKind::Edge && rule.index == index
        && rule.key == graph.get(edge.value.node).name
        && rule.secondKey == graph.get(edge.reader.node).name;
}

void addCandidates(std::vector<EdgeRuleCandidate>& candidates, EdgeRuleCandidate::Of of,
                   const NodePlan* node)
{
    if (!node || node->rule.kind == RuleKind::None)
        return;
    const auto add = [&](const Rule& rule) {
        if (rule.kind != RuleKind::Edge)
            candidates.push_back({of, rule});
    };
    add(node->rule);
    for (const Rule& rule : node->overrides)
        add(rule);
}

/// The index of the rule's candidate, which is added in front if missing.
int placeOf(std::vector<EdgeRuleCandidate>& candidates, const Rule& rule,
            EdgeRuleCandidate::Of otherwise)
{
    // A rule that reaches both ends decides at the producer, where it is evaluated first.
    const auto found = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const EdgeRuleCandidate& candidate) {
                                        return candidate.rule == rule && candidate.of == otherwise;
                                    });
    if (found != candidates.end())
        return int(found - candidates.begin());
    candidates.insert(candidates.begin(), {otherwise, rule});
    return 0;
}

const PlannedObserver* observerOf(const Plan& plan, ObserverId id)
{
    return id && id.value() <= plan.observers.size() ? &plan.observers[id.value() - 1] : nullptr;
}

std::string quoted(const Graph& graph, NodeId node)
{
    return inQuotes(graph.get(node).name);
}

void explainObserved(EdgeFacts& facts, const Graph& graph, const Plan& plan, const Edge& edge)
{
    const PlannedObserver& observer = *observerOf(plan, facts.observer);
    const std::string maker = quoted(graph, edge.value.node);
    const bool byEdge = observer.rule.kind == RuleKind::Edge;
    const bool own = facts.observer == onReading(plan, edge);
    const bool maked = !own && graph.get(edge.value.node).isOperator();
    if (observer.rule.kind != RuleKind::None)
        facts.won = placeOf(facts.candidates, observer.rule,
                            byEdge      ? EdgeRuleCandidate::Of::Edge
                                : maked ? EdgeRuleCandidate::Of::Producer
                                        : EdgeRuleCandidate::Of::Reader);
    if (byEdge && facts.before)
        facts.why = "its edge rule decides; " + maker
            + " is quantized for its other readers first, then for this one again";
    else if (byEdge)
        facts.why = own ? "its edge rule decides"
                        : "an edge rule decides, and all that shares the observer follows";
    else if (own)
        facts.why = quoted(graph, edge.reader.node) + " asks for it";
    else if (maked)
        facts.why = "it is quantized where it is made";
    else
        facts.why = "its readers ask for it";
}

void explainFloat(EdgeFacts& facts, const Graph& graph, const Plan& plan, const Edge& edge)
{
    const NodePlan* reader = plan.tryGet(graph, edge.reader.node);
    const std::string name = quoted(graph, edge.reader.node);
    if (reader && reader->rule.kind == RuleKind::Edge) {
        facts.won = placeOf(facts.candidates, reader->rule, EdgeRuleCandidate::Of::Edge);
        facts.why = "an edge rule keeps " + name + " float";
    } else if (reader && reader->verdict == Verdict::FloatByRule) {
        if (reader->rule.kind != RuleKind::None)
            facts.won = placeOf(facts.candidates, reader->rule, EdgeRuleCandidate::Of::Reader);
        facts.why = name + " stays float: " + reader->reason.text();
    } else if (reader && reader->quantized) {
        facts.why = name + " reads it in float";
    } else {
        facts.why = name + " is not quantized";
    }
}

bool shares(const Graph& graph, const Plan& plan, NodeId node)
{
    const NodePlan* found = plan.tryGet(graph, node);
    return found && found->verdict == Verdict::Shared;
}

NodeId lastOf(const Graph& graph, const Plan& plan, NodeId node)
{
    const NodePlan* found = plan.tryGet(graph, node);
    return found && found->group >= 0 ? plan.groups[std::size_t(found->group)].members.back()
                                      : node;
}

/// Visits the operators that use the observer of their input for their output too.
class SharedWalk
{
public:
    SharedWalk(const Graph& graph, const Plan& plan, ObserverId observer)
        : m_graph(graph)
        , m_plan(plan)
        , m_observer(observer)
    {
    }

    std::vector<ObservedEdge> from(NodeId reader)
    {
        visit(reader);
        return std::move(m_found);
    }

private:
    void visit(NodeId reader)
    {
        if (!shares(m_graph, m_plan, reader) || !m_seen.insert(reader).second)
            return;
        add({lastOf(m_graph, m_plan, reader), 0});
        for (const auto& [use, value] : m_plan.tryGet(m_graph, reader)->activations)
            if (const ObserverId own = onReading(m_plan, {value, use}); !own)
                add(value);
            else if (own == m_observer)
                m_found.push_back({value, {use}});
    }

    void add(ValueRef value)
    {
        if (onValue(m_plan, value) != m_observer || !m_values.insert(value).second)
            return;
        m_found.push_back({value, {}});
        for (const Use& use : m_graph.users(value))
            visit(use.node);
    }

    const Graph& m_graph;
    const Plan& m_plan;
    ObserverId m_observer;
    std::vector<ObservedEdge> m_found;
    std::unordered_set<NodeId> m_seen;
    std::unordered_set<ValueRef> m_values;
};

} // namespace

bool isEdge(const Graph& graph, const Edge& edge)
{
    const Node* maker = graph.tryGet(edge.value.node);
    if (!maker || edge.value.index >= maker->outputs.size() || !graph.tryGet(edge.reader.node))
        return false;
    const auto users = graph.users(edge.value);
    return std::find(users.begin(), users.end(), edge.reader) != users.end();
}

EdgeFacts edgeFacts(const Graph& graph, const Plan& plan, const Recipe& recipe, const Edge& edge)
{
    EdgeFacts out;
    const NodePlan* reader = plan.tryGet(graph, edge.reader.node);
    out.index = indexOf(reader, edge);
    if (out.index)
        for (auto rule = recipe.mapping.rules.rbegin(); rule != recipe.mapping.rules.rend(); ++rule)
            if (isOfEdge(*rule, graph, edge, *out.index))
                out.candidates.push_back({EdgeRuleCandidate::Of::Edge, *rule});
    const bool edgeSpoke = !out.candidates.empty();
    addCandidates(out.candidates, EdgeRuleCandidate::Of::Producer,
                  plan.tryGet(graph, edge.value.node));
    addCandidates(out.candidates, EdgeRuleCandidate::Of::Reader, reader);
    const ObserverId own = onReading(plan, edge), value = onValue(plan, edge.value);
    // What a float operator reads is what the value became for the others.
    out.observer = own ? own : value;
    if (own && value)
        out.before = value;
    if (out.observer && !(reader && reader->verdict == Verdict::FloatByRule)) {
        explainObserved(out, graph, plan, edge);
    } else {
        explainFloat(out, graph, plan, edge);
        if (out.observer)
            out.why += "; it reads what the value was quantized to";
    }
    if (edgeSpoke
        && (out.won < 0 || out.candidates[std::size_t(out.won)].of != EdgeRuleCandidate::Of::Edge)
        && reader && !reader->quantized)
        out.why += "; the edge rule has no effect, since " + quoted(graph, edge.reader.node)
            + " stays float";
    return out;
}

std::vector<Edge> decidedTogether(const Graph& graph, const Plan& plan, const Edge& edge)
{
    if (!shares(graph, plan, edge.reader.node))
        return {edge};
    std::vector<Edge> out;
    for (const auto& [use, value] : plan.tryGet(graph, edge.reader.node)->activations)
        if (graph.value(value).type.mayBeFloat())
            out.push_back({value, use});
    return out;
}

std::vector<Edge> edgesOf(const Graph& graph, const Plan& plan, ValueRef value)
{
    std::vector<Edge> out;
    for (const Use& use : graph.users(value))
        if (indexOf(plan.tryGet(graph, use.node), {value, use}))
            out.push_back({value, use});
    return out;
}

std::vector<ObservedEdge> sharedAlong(const Graph& graph, const Plan& plan, const Edge& edge)
{
    const ObserverId own = onReading(plan, edge);
    const ObserverId observer = own ? own : onValue(plan, edge.value);
    return observer ? SharedWalk(graph, plan, observer).from(edge.reader.node)
                    : std::vector<ObservedEdge>();
}

void setEdgeRules(Recipe& recipe, const Graph& graph, const Plan& plan,
                  const std::vector<Edge>& edges, const std::optional<NamedQConfig>& qconfig)
{
    for (const Edge& edge : edges) {
        const auto index = indexOf(plan.tryGet(graph, edge.reader.node), edge);
        if (!index)
            continue;
        std::erase_if(recipe.mapping.rules,
                      [&](const Rule& rule) { return isOfEdge(rule, graph, edge, *index); });
        if (!qconfig)
            continue;
        Rule rule;
        rule.kind = RuleKind::Edge;
        rule.key = graph.get(edge.value.node).name;
        rule.secondKey = graph.get(edge.reader.node).name;
        rule.index = *index;
        rule.qconfig = *qconfig;
        recipe.mapping.rules.push_back(std::move(rule));
    }
}

} // namespace qs

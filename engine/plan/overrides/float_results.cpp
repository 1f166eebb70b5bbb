// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/overrides/float_results.h"

#include "engine/graph/given_observations.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

namespace qs {

namespace {

bool isLayer(const Node& node)
{
    const OperatorFacts::Weighted weighted = factsOf(node.target).weighted;
    const Argument* transposed = node.tryArg("transposed");
    return (weighted == OperatorFacts::Weighted::Linear
            || weighted == OperatorFacts::Weighted::Convolution)
        && !(transposed && transposed->asBool() && *transposed->asBool());
}

/// Whether an operator may be fused into a layer whose result is float.
bool joinsLayer(const Node& node)
{
    const OperatorFacts& facts = functionalFactsOf(node.target);
    return facts.family == OperatorFamily::Norm
        || (facts.clamp && facts.clamp->low == 0
            && facts.clamp->high == std::numeric_limits<float>::infinity());
}

/// Whether an operator only moves the values of its first argument.
bool moves(const Node& node)
{
    if (movesValues(node.target))
        return true;
    const auto isOn = [&node](const char* name) {
        const Argument* argument = node.tryArg(name);
        return argument && argument->asBool() && *argument->asBool();
    };
    return hasTrait(node.target, OperatorTrait::Permutes) && !isOn("train") && !isOn("training");
}

void addNote(std::string& note, const std::string& more)
{
    note += (note.empty() ? "" : "; ") + more;
}

class FloatResults
{
public:
    FloatResults(const Graph& graph, const Matches& matches, std::vector<Verdicts>& verdicts,
                 std::vector<Decision>& decisions)
        : m_graph(graph)
        , m_matches(matches)
        , m_verdicts(verdicts)
        , m_decisions(decisions)
    {
        for (std::size_t i = 0; i < matches.matches.size(); ++i)
            for (const std::size_t unit : matches.matches[i].units)
                for (const NodeId id : matches.units[unit].nodes)
                    m_matchOf[id] = i;
    }

    void askedFor()
    {
        for (std::size_t i = 0; i < m_decisions.size(); ++i) {
            if (!isStatic(i) || !m_decisions[i].qconfig->floatResult)
                continue;
            if (!mayGive(i))
                continue; // `settle` keeps it float
            giveFloat(i, "its result stays float, as its qconfig says");
        }
    }

    void needless()
    {
        findWanted();
        std::unordered_set<ValueRef> given; // the file says how they are quantized
        for (const GivenObservation& observation : givenObservations(m_graph))
            if (observation.interior.empty())
                given.insert(observation.value);
        for (std::size_t i = 0; i < m_decisions.size(); ++i) {
            const ValueRef value = resultOf(i);
            if (isStatic(i) && !m_decisions[i].floatResult && mayGive(i)
                && !m_wanted.contains(value) && !given.contains(value)
                && !m_graph.users(value).empty())
                giveFloat(i, "its result stays float: only float operators read it");
        }
    }

    /// Keeps float what requests a float result but cannot have one, and what moves a float result.
    void settle()
    {
        std::unordered_set<ValueRef> floats;
        for (const NodePtr& node : m_graph.nodes()) {
            if (!node->isOperator())
                continue;
            const auto match = m_matchOf.find(node->id);
            const ValueRef moved = movedBy(*node);
            if (match != m_matchOf.end() && m_decisions[match->second].floatResult)
                floats.insert(resultOf(match->second));
            if (moved && floats.contains(moved)) {
                for (std::uint32_t output = 0; output < node->outputs.size(); ++output)
                    floats.insert({node->id, output});
                if (match != m_matchOf.end() && m_decisions[match->second].quantized)
                    keepFloat(
                        match->second,
                        Reason::of<ReasonCode::MovesFloatResult>(m_graph.get(moved.node).name));
            }
        }
        for (std::size_t i = 0; i < m_decisions.size(); ++i)
            if (isStatic(i) && m_decisions[i].qconfig->floatResult && !m_decisions[i].floatResult)
                keepFloat(i,
                          Reason::of<ReasonCode::GivesNoFloatResult>(m_verdicts[i].qconfig.name));
    }

private:
    NodeId rootOf(std::size_t match) const
    {
        return m_matches.units[m_matches.matches[match].units.front()].root();
    }
    ValueRef resultOf(std::size_t match) const
    {
        return {m_matches.units[m_matches.matches[match].units.back()].last(), 0};
    }

    /// Whether the match is quantized statically; in other modes the result is always float.
    bool isStatic(std::size_t match) const
    {
        const Decision& decision = m_decisions[match];
        return decision.quantized && isIntegerDType(decision.qconfig->activation.dtype)
            && !decision.qconfig->activation.isDynamic;
    }

    bool mayGive(std::size_t match) const
    {
        const std::optional<DTypeConfig>& config = m_verdicts[match].dtypeConfig;
        if (!config || !config->weight.dtype || !isIntegerDType(*config->weight.dtype))
            return false;
        std::vector<NodeId> members;
        for (const std::size_t unit : m_matches.matches[match].units)
            members.insert(members.end(), m_matches.units[unit].nodes.begin(),
                           m_matches.units[unit].nodes.end());
        return mayGiveFloat(m_graph, members);
    }

    void giveFloat(std::size_t match, const std::string& note)
    {
        m_decisions[match].floatResult = m_verdicts[match].decision.floatResult = true;
        addNote(m_verdicts[match].note, note);
    }

    void keepFloat(std::size_t match, Reason reason)
    {
        m_decisions[match].quantized = m_verdicts[match].decision.quantized = false;
        m_verdicts[match].verdict = Verdict::FloatByRule;
        m_verdicts[match].reason = std::move(reason);
    }

    /// The value that the node only moves; invalid if it computes.
    ValueRef movedBy(const Node& node) const
    {
        const ValueRef* first = node.args.empty() ? nullptr : node.args[0].value.asRef();
        return first && moves(node) ? *first : ValueRef {};
    }

    /// Finds the values that quantized operators read as integers, also through operators that move
    /// them.
    void findWanted()
    {
        const auto nodes = m_graph.nodes();
        for (std::size_t n = nodes.size(); n-- > 0;) {
            const Node& node = *nodes[n];
            if (!node.isOperator())
                continue;
            const auto match = m_matchOf.find(node.id);
            const ValueRef moved = movedBy(node);
            if (moved && (match == m_matchOf.end() || isStatic(match->second))) {
                for (std::uint32_t output = 0; output < node.outputs.size(); ++output)
                    if (m_wanted.contains({node.id, output}))
                        m_wanted.insert(moved);
            } else if (match != m_matchOf.end() && takesIntegers(match->second)) {
                for (const NamedArgument& argument : node.args)
                    forEachRef(argument.value, [this](ValueRef ref) { m_wanted.insert(ref); });
            }
        }
    }

    /// Whether the match reads integers. Dynamically quantized operators quantize their inputs
    /// themselves; weight-only ones do not quantize inputs.
    bool takesIntegers(std::size_t match) const
    {
        const Decision& decision = m_decisions[match];
        return decision.quantized && !decision.qconfig->activation.isDynamic
            && decision.qconfig->activation.dtype != DType::Float32;
    }

    const Graph& m_graph;
    const Matches& m_matches;
    std::vector<Verdicts>& m_verdicts;
    std::vector<Decision>& m_decisions;
    std::unordered_map<NodeId, std::size_t> m_matchOf;
    std::unordered_set<ValueRef> m_wanted;
};

} // namespace

bool mayGiveFloat(const Graph& graph, const std::vector<NodeId>& members)
{
    return !members.empty() && isLayer(graph.get(members.front()))
        && std::all_of(members.begin() + 1, members.end(),
                       [&graph](NodeId id) { return joinsLayer(graph.get(id)); });
}

void applyFloatResults(const Graph& graph, const Matches& matches, bool needless,
                       std::vector<Verdicts>& verdicts, std::vector<Decision>& decisions)
{
    FloatResults results(graph, matches, verdicts, decisions);
    results.askedFor();
    if (needless)
        results.needless();
    results.settle();
}

} // namespace qs

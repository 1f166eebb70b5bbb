// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/overrides/not_finite_values.h"

#include "engine/base/text.h"

namespace qs {

namespace {

/// The first named node whose value the match observes, as an input or as its result.
const Node* firstNamed(const Graph& graph, const OpNames& names,
                       const std::map<std::string, std::string>& seen, const Matches& matches,
                       const Match& match)
{
    const auto named = [&](NodeId id) {
        const Node& node = graph.get(id);
        return seen.contains(node.name) ? &node : nullptr;
    };
    std::set<NodeId> members;
    for (const std::size_t unit : match.units)
        members.insert(matches.units[unit].nodes.begin(), matches.units[unit].nodes.end());
    for (const NodeId member : members)
        for (const ValueRef input :
             activationInputs(graph, graph.get(member), names[graph.position(member)]))
            if (const Node* node = members.contains(input.node) ? nullptr : named(input.node))
                return node;
    return named(matches.units[match.units.back()].last());
}

} // namespace

std::string describedNode(const Node& node)
{
    return inQuotes(node.name) + " (" + (node.isOperator() ? node.target : "a model input")
        + (node.scope.path.empty() ? "" : " of module " + inQuotes(node.scope.path)) + ")";
}

std::vector<PlanFinding> applyNotFinite(const Graph& graph, const OpNames& names,
                                        const std::map<std::string, std::string>& seen,
                                        const Matches& matches, std::vector<Verdicts>& verdicts,
                                        std::vector<Decision>& decisions)
{
    std::map<std::size_t, std::vector<std::string>> kept; // by position of the value's node
    for (std::size_t i = 0; i < matches.matches.size() && !seen.empty(); ++i) {
        const Match& match = matches.matches[i];
        const Node* value
            = decisions[i].quantized ? firstNamed(graph, names, seen, matches, match) : nullptr;
        if (!value)
            continue;
        decisions[i].quantized = verdicts[i].decision.quantized = false;
        verdicts[i].verdict = Verdict::FloatByRule;
        verdicts[i].reason
            = Reason::of<ReasonCode::ValueNotFinite>(inQuotes(value->name), seen.at(value->name));
        kept[graph.position(value->id)].push_back(
            graph.get(matches.units[match.units.front()].root()).name);
    }
    std::vector<PlanFinding> findings;
    for (const auto& [position, operators] : kept) {
        const Node& node = *graph.nodes()[position];
        findings.push_back({node.id, kNotFinite,
                            describedNode(node) + " is not finite on the calibration data ("
                                + seen.at(node.name)
                                + "), so no scale fits: " + quotedNames(operators)
                                + (operators.size() == 1 ? " stays float" : " stay float")});
    }
    return findings;
}

} // namespace qs

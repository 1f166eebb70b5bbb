// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/overrides/branch_conditions.h"

#include "engine/graph/operators/common_targets.h"

#include <unordered_map>

namespace qs {

namespace {

bool isCondition(const Node& node, std::uint32_t argument)
{
    if (node.target.starts_with("higher_order.cond") || node.isOp(kIfTarget))
        return argument == 0;
    return node.isOp(kLoopTarget) && argument <= 1; // number of trips, and initial condition
}

/// Operators whose results are used only for a condition, with a node that the condition decides.
std::unordered_map<NodeId, const Node*> deciders(const Graph& graph)
{
    std::unordered_map<NodeId, const Node*> found;
    const auto nodes = graph.nodes();
    for (std::size_t i = nodes.size(); i-- > 0;) {
        const Node& node = *nodes[i];
        if (node.kind != NodeKind::Op)
            continue;
        const Node* decided = nullptr;
        bool nothingElse = true;
        for (std::uint32_t output = 0; output < node.outputs.size(); ++output)
            for (const Use& use : graph.users({node.id, output})) {
                const Node& reader = graph.get(use.node);
                const auto further = found.find(reader.id);
                if (isCondition(reader, use.argument))
                    decided = &reader;
                else if (further != found.end())
                    decided = further->second;
                else
                    nothingElse = false;
            }
        if (decided && nothingElse)
            found.emplace(node.id, decided);
    }
    return found;
}

} // namespace

void applyBranchConditions(const Graph& graph, const Matches& matches,
                           std::vector<Verdicts>& verdicts, std::vector<Decision>& decisions)
{
    const auto found = deciders(graph);
    for (std::size_t i = 0; i < matches.matches.size() && !found.empty(); ++i) {
        const auto decider = found.find(matches.units[matches.matches[i].units.back()].last());
        if (!decisions[i].quantized || decider == found.end())
            continue;
        decisions[i].quantized = verdicts[i].decision.quantized = false;
        verdicts[i].verdict = Verdict::ShapeOnly;
        verdicts[i].reason = Reason::of<ReasonCode::DecidesBranch>(decider->second->name);
    }
}

} // namespace qs

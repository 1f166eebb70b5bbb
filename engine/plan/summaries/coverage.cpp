// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/summaries/coverage.h"

namespace qs {

std::string coverageShortText(int quantized, int eligible)
{
    return std::to_string(quantized) + " of " + std::to_string(eligible) + " eligible";
}

std::string coverageText(int quantized, int eligible, int total)
{
    return coverageShortText(quantized, eligible) + " operators quantized, of "
        + std::to_string(total) + " in all";
}

std::string Coverage::shortText() const
{
    return coverageShortText(quantized, eligible);
}

std::string Coverage::text() const
{
    return coverageText(quantized, eligible, total);
}

Coverage coverageOf(const Plan& plan)
{
    Coverage out;
    out.quantized = plan.quantizedOps;
    out.eligible = plan.eligibleOps;
    out.total = plan.totalOps;
    for (const NodePlan& node : plan.nodes)
        if (node.verdict != Verdict::NotApplicable)
            ++out.verdicts[node.verdict];
    return out;
}

Coverage coverageOf(const Graph& graph, const Plan& plan, std::span<const NodeId> nodes)
{
    Coverage out;
    for (const NodeId id : nodes) {
        const NodePlan* decided = plan.tryGet(graph, id);
        if (!decided || !graph.get(id).isOperator())
            continue;
        ++out.total;
        out.eligible += decided->eligible;
        out.quantized += decided->quantized;
        ++out.verdicts[decided->verdict];
    }
    return out;
}

std::vector<NodeId> operatorsIn(const Graph& graph, const std::string& modulePath)
{
    std::vector<NodeId> out;
    for (const NodePtr& node : graph.nodes()) {
        const std::string& path = node->scope.path;
        const bool isInside
            = modulePath.empty() || path == modulePath || path.starts_with(modulePath + '.');
        if (isInside && node->isOperator())
            out.push_back(node->id);
    }
    return out;
}

} // namespace qs

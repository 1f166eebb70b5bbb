// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/summaries/group_root.h"

#include "engine/graph/operators/operators.h"

namespace qs {

NodeId groupRoot(const Graph& graph, const Plan& plan, NodeId node)
{
    const NodePlan* decided = plan.tryGet(graph, node);
    return decided && decided->group >= 0 ? plan.groups.at(std::size_t(decided->group)).root : node;
}

NodeId unitEnd(const Graph& graph, const Plan& plan, NodeId node)
{
    const NodePlan* decided = plan.tryGet(graph, node);
    if (!decided || decided->group < 0)
        return node;
    const MatchGroup& group = plan.groups.at(std::size_t(decided->group));
    return group.fused || group.quantized ? group.members.back() : node;
}

bool isQuantizedIn(const Graph& graph, const Plan& plan, NodeId node)
{
    const NodePlan* decided = plan.tryGet(graph, node);
    return decided && decided->quantized;
}

bool isLayer(const Graph& graph, const Plan& plan, NodeId node)
{
    const Node& root = graph.get(groupRoot(graph, plan, node));
    return factsOf(root.target).weighted != OperatorWeight::No;
}

} // namespace qs

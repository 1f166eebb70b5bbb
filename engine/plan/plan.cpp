// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.h"

#include <algorithm>

namespace qs {

std::string_view verdictName(Verdict verdict)
{
    switch (verdict) {
    case Verdict::NotApplicable:
        return "not applicable";
    case Verdict::Quantized:
        return "quantized";
    case Verdict::FloatByRule:
        return "float by rule";
    case Verdict::FloatByBackend:
        return "float by backend";
    case Verdict::FloatByConstraint:
        return "float by constraint";
    case Verdict::FloatByKernelCheck:
        return "float by kernel check";
    case Verdict::Opaque:
        return "opaque";
    case Verdict::ShapeOnly:
        return "shape only";
    case Verdict::Shared:
        return "shared";
    }
    return "?";
}

const NodePlan* Plan::tryGet(const Graph& graph, NodeId id) const
{
    if (!graph.tryGet(id))
        return nullptr;
    const std::size_t position = graph.position(id);
    return position < nodes.size() && nodes[position].node == id ? &nodes[position] : nullptr;
}

std::optional<MainReason> mainReason(const Plan& plan)
{
    std::map<std::string, MainReason> reasons;
    for (const NodePlan& node : plan.nodes)
        if (!node.reason.empty() && (node.eligible || plan.eligibleOps == 0))
            ++reasons.try_emplace(node.reason.text(), MainReason {&node, 0}).first->second.count;
    const auto main
        = std::max_element(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
              return a.second.count < b.second.count;
          });
    return main == reasons.end() ? std::nullopt : std::optional(main->second);
}

std::map<std::string, ObserverId> interiorObservers(const Plan& plan, NodeId owner)
{
    std::map<std::string, ObserverId> found;
    for (const PlannedObserver& observer : plan.observers)
        if (!observer.interior.empty() && observer.weightOwner == owner)
            found.emplace(observer.interior, observer.id);
    return found;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/observe_part.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/engine_ops.h"

#include <algorithm>

namespace qs {

PreparedPtr partToObserve(const PreparedPtr& prepared,
                          const std::unordered_set<ObserverId>& observers)
{
    const Plan& plan = *prepared->plan;
    const bool custom
        = std::any_of(plan.observers.begin(), plan.observers.end(),
                      [](const PlannedObserver& one) { return !one.interior.empty(); });
    if (custom || observers.size() == plan.observers.size())
        return prepared;

    auto part = std::make_shared<PreparedModel>(*prepared);
    auto fewer = std::make_shared<Plan>(plan);
    std::erase_if(fewer->observers,
                  [&](const PlannedObserver& one) { return !observers.contains(one.id); });
    std::erase_if(part->observedWeight,
                  [&](const auto& entry) { return !observers.contains(entry.first); });

    GraphEdit edit(*prepared->graph);
    Argument::List wanted;
    for (const NodePtr& node : prepared->graph->nodes()) {
        if (!node->isOp(kObserveTarget))
            continue;
        if (observers.contains(node->observer)) {
            wanted.emplace_back(ValueRef {node->id, 0});
            continue;
        }
        edit.replaceUses({node->id, 0}, *edit.get(node->id).args.at(0).value.asRef());
        edit.erase(node->id);
    }
    // Keeps observed weights, which have no observer node: they are observed where they are stored.
    for (const auto& [id, weight] : part->observedWeight)
        wanted.emplace_back(weight);
    const NodeId output = prepared->graph->output().id;
    edit.setArgs(output, {{"outputs", Argument(std::move(wanted))}});
    edit.eraseDead();
    part->graph = std::make_shared<const Graph>(edit.build());
    part->plan = std::move(fewer);
    return part;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_diff.h"

namespace qs {

std::vector<NodeChange> comparePlans(const Graph& graph, const Plan& before, const Plan& after)
{
    std::vector<NodeChange> changes;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        if (!graph.nodes()[i]->isOperator())
            continue;
        const NodePlan& a = before.nodes.at(i);
        const NodePlan& b = after.nodes.at(i);
        // A qconfig has no effect without a pattern.
        const bool matched = a.eligible || b.eligible;
        const NodeChange change {i, a.verdict != b.verdict || a.quantized != b.quantized,
                                 matched && a.qconfig != b.qconfig, a.pattern != b.pattern};
        if (change.verdict || change.qconfig || change.pattern)
            changes.push_back(change);
    }
    return changes;
}

} // namespace qs

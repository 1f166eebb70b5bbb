// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/worst_nodes.h"

#include <algorithm>

namespace qs {

std::vector<NodeId> worstFirst(const Comparison& comparison, const Facts& facts)
{
    std::vector<std::pair<double, NodeId>> order;
    for (const auto& error : comparison.nodes)
        if (error.bornHere && error.bornHere->sqnrDb && facts.model()->tryGet(error.node)
            && facts.last(error.node) == error.node)
            order.emplace_back(*error.bornHere->sqnrDb, error.node);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<NodeId> out;
    for (const auto& [sqnr, node] : order)
        out.push_back(node);
    return out;
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/node_size.h"

#include "ui/graph/view/graph_drawing.h"

#include <algorithm>

namespace qs {

namespace {

double nodeWidth(const FoldEntry& entry)
{
    const double title = double(entry.isModule() ? entry.label.size() : entry.title.size()) * 7.3
        + (entry.isModule() ? double(entry.className.size()) * 7.3 + 24 : 0);
    const double wanted = 14 + std::max(title, 118.0) + 58;
    return std::clamp(wanted, 196.0, 330.0);
}

/// True if the node has a third line: a parameter, a constant, a literal argument.
bool hasInside(const Graph& graph, const FoldTree& tree, const FoldEntry& entry)
{
    if (entry.kind != FoldEntry::Kind::Unit)
        return false;
    for (const NodeId id : entry.members)
        for (const auto& arg : graph.get(id).args) {
            bool literal = !arg.value.isNone(), tensor = false;
            forEachRef(arg.value, [&](ValueRef ref) {
                literal = false;
                tensor |= tree.unitOf(ref.node) < 0;
            });
            const bool inside = tensor || (literal && entry.members.size() == 1);
            if (inside)
                return true;
        }
    return false;
}

} // namespace

QSizeF drawnSize(const Graph& graph, const FoldTree& tree, int entry)
{
    const auto& e = tree.entry(entry);
    return {nodeWidth(e), hasInside(graph, tree, e) ? kTallNodeHeight : kNodeHeight};
}

} // namespace qs

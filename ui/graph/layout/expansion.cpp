// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/expansion.h"

namespace qs {

std::set<int> initialExpansion(const FoldTree& tree, int budget)
{
    std::set<int> open {FoldTree::kRoot};
    int drawn = int(tree.entry(FoldTree::kRoot).children.size());
    std::vector<int> layer {FoldTree::kRoot};
    while (!layer.empty()) {
        std::vector<int> next;
        for (int parent : layer)
            for (int child : tree.entry(parent).children) {
                const auto& entry = tree.entry(child);
                if (!entry.isModule() || !entry.wrap.empty() || entry.repeats > 0)
                    continue;
                const int more = int(entry.children.size()) - 1;
                if (drawn + more > budget)
                    continue;
                drawn += more;
                open.insert(child);
                next.push_back(child);
            }
        layer = std::move(next);
    }
    return open;
}

std::set<int> entriesOf(const FoldTree& tree, const std::set<std::string>& paths)
{
    std::set<int> out {FoldTree::kRoot};
    for (std::size_t i = 1; i < tree.size(); ++i)
        if (tree.entry(int(i)).isModule() && paths.count(tree.entry(int(i)).path))
            out.insert(int(i));
    return out;
}

} // namespace qs

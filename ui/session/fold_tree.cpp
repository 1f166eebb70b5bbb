// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/fold_tree.h"

namespace qs {

int FoldTree::unitOf(NodeId id) const
{
    const auto& units = ungrouped().m_unitOf;
    return id.value() < units.size() ? units[id.value()] : -1;
}

int FoldTree::moduleEntry(const std::string& path) const
{
    const auto& known = ungrouped().m_byPath;
    const auto it = known.find(path);
    return it == known.end() ? -1 : it->second;
}

std::vector<NodeId> FoldTree::nodesOf(int index) const
{
    const auto& top = entry(index);
    if (top.repeats > 0) { // a box: its parts may belong to several modules
        std::vector<NodeId> out;
        for (const int child : top.children) {
            const auto inside = nodesOf(child);
            out.insert(out.end(), inside.begin(), inside.end());
        }
        return out;
    }
    const auto first = ungrouped().m_nodes.begin();
    return {first + top.firstNode, first + top.lastNode};
}

std::vector<std::span<const int>> FoldTree::blocksOf(int box) const
{
    std::vector<std::span<const int>> out;
    const auto ends = m_blockEnds.find(box);
    if (ends == m_blockEnds.end())
        return out;
    const std::span<const int> children = entry(box).children;
    for (std::size_t from = 0; const std::size_t to : ends->second) {
        out.push_back(children.subspan(from, to - from));
        from = to;
    }
    return out;
}

bool FoldTree::isWithin(int index, int ancestor) const
{
    while (index >= 0 && index != ancestor)
        index = entry(index).parent;
    return index == ancestor;
}

std::string moduleOfPath(const std::string& entryPath)
{
    return entryPath.ends_with("()") ? ModuleTree::parentPath(entryPath) : entryPath;
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/repeated_blocks.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

std::vector<int> boxesWithin(const FoldTree& grouped, const std::vector<NodeId>& nodes)
{
    std::vector<int> out;
    const int first = int(grouped.ungrouped().size()), end = int(grouped.size());
    if (nodes.size() < 2 || first == end)
        return out;
    const std::unordered_set<NodeId> known(nodes.begin(), nodes.end());
    const auto isWithin = [&](int entry) {
        const auto inside = grouped.nodesOf(entry);
        return std::all_of(inside.begin(), inside.end(),
                           [&](NodeId id) { return known.contains(id); });
    };
    for (int box = first; box < end; ++box)
        if (const auto& blocks = grouped.entry(box).children;
            std::all_of(blocks.begin(), blocks.end(), isWithin))
            out.push_back(box);
    return out;
}

namespace {

/// True if all nodes inside the entry are known; else appends its entries that are known to `out`.
bool isWhole(const FoldTree& tree, int index, const std::unordered_set<NodeId>& known,
             std::vector<int>& out)
{
    const FoldEntry& entry = tree.entry(index);
    if (!entry.isModule())
        return std::all_of(entry.members.begin(), entry.members.end(),
                           [&](NodeId id) { return known.contains(id); });
    const std::size_t before = out.size();
    std::size_t whole = 0;
    for (const int child : entry.children)
        if (isWhole(tree, child, known, out)) {
            out.push_back(child);
            ++whole;
        }
    const bool all = whole > 0 && whole == entry.children.size();
    if (all)
        out.resize(before);
    return all;
}

} // namespace

std::vector<int> entriesWithin(const FoldTree& tree, const std::vector<NodeId>& nodes)
{
    const std::unordered_set<NodeId> known(nodes.begin(), nodes.end());
    std::vector<int> out;
    if (isWhole(tree, FoldTree::kRoot, known, out))
        out.push_back(FoldTree::kRoot);
    return out;
}

std::optional<std::pair<double, double>>
spreadOf(const FoldTree& grouped, int box,
         const std::function<std::optional<double>(int entry)>& sqnrOf)
{
    std::optional<std::pair<double, double>> out;
    for (const auto block : grouped.blocksOf(box)) {
        std::optional<double> worst;
        for (const int entry : block)
            if (const auto sqnr = sqnrOf(entry); sqnr && !(worst && *worst < *sqnr))
                worst = sqnr;
        if (!worst)
            continue;
        if (!out)
            out = {*worst, *worst};
        out->first = std::min(out->first, *worst);
        out->second = std::max(out->second, *worst);
    }
    return out;
}

} // namespace qs

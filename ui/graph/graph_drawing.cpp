// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/graph_drawing.h"

#include <algorithm>

namespace qs {

void GraphDrawing::finish()
{
    const std::size_t entries = tree->entries().size();
    nodeOfEntry.assign(entries, -1);
    boxOfEntry.assign(entries, -1);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodeOfEntry[std::size_t(nodes[i].entry)] = int(i);
    for (std::size_t i = 0; i < boxes.size(); ++i)
        boxOfEntry[std::size_t(boxes[i].entry)] = int(i);
    std::stable_sort(references.begin(), references.end(),
                     [](const auto& a, const auto& b) { return a.node < b.node; });
    points.shrink_to_fit();
    nodes.shrink_to_fit();
    edges.shrink_to_fit();
    references.shrink_to_fit();
    nodeGrid.build(bounds, nodes.size(), [this](const auto& emit) {
        for (std::size_t i = 0; i < nodes.size(); ++i)
            emit(int(i), nodes[i].rect.adjusted(0, -16, 0, 0)); // its references stand above
    });
    boxGrid.build(bounds, boxes.size(), [this](const auto& emit) {
        for (std::size_t i = 0; i < boxes.size(); ++i)
            emit(int(i), boxes[i].rect);
    });
    edgeGrid.build(bounds, edges.size(), [this](const auto& emit) {
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const auto line = pointsOf(edges[i]);
            for (std::size_t p = 1; p < line.size(); ++p)
                emit(int(i), QRectF(line[p - 1], line[p]).normalized().adjusted(-6, -6, 90, 6));
        }
    });
}

std::span<const DrawnReference> GraphDrawing::referencesOf(int node) const
{
    const auto [first, last]
        = std::equal_range(references.begin(), references.end(), DrawnReference {{}, node},
                           [](const auto& a, const auto& b) { return a.node < b.node; });
    return {references.data() + (first - references.begin()), std::size_t(last - first)};
}

int GraphDrawing::nodeShowing(int entry) const
{
    int found = -1;
    for (; entry > FoldTree::kRoot; entry = tree->entry(entry).parent)
        if (const int node = nodeOfEntry[std::size_t(entry)]; node >= 0)
            found = node;
    return found;
}

QRectF GraphDrawing::rectOf(int entry) const
{
    for (; entry > FoldTree::kRoot; entry = tree->entry(entry).parent) {
        if (const int node = nodeOfEntry[std::size_t(entry)]; node >= 0)
            return nodes[std::size_t(node)].rect;
        if (const int box = boxOfEntry[std::size_t(entry)]; box >= 0)
            return boxes[std::size_t(box)].rect;
    }
    return {};
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/graph_walk.h"

#include <algorithm>
#include <cmath>

namespace qs {

int nodeBeside(const GraphDrawing& drawing, Qt::Key key, int from)
{
    const auto& start = drawing.nodes[std::size_t(from)];
    std::vector<int> choices;
    const auto offer = [&](int entry) {
        if (const int node = drawing.nodeOfEntry[std::size_t(entry)]; node >= 0 && node != from)
            choices.push_back(node);
    };
    const bool flowsDown = drawing.flow == Flow::Down;
    const bool along = flowsDown == (key == Qt::Key_Down || key == Qt::Key_Up);
    if (along) {
        const bool down = key == Qt::Key_Down || key == Qt::Key_Right; // with the flow
        for (const auto& edge : drawing.edges)
            if ((down ? edge.fromEntry : edge.toEntry) == start.entry)
                offer(down ? edge.toEntry : edge.fromEntry);
        // Nodes joined by a line have priority over those that are referenced by name.
        if (choices.empty())
            for (const auto& reference : drawing.references) {
                const int producer
                    = drawing.nodeShowing(drawing.tree->unitOf(reference.value.node));
                if (down && producer == from)
                    choices.push_back(reference.node);
                else if (!down && reference.node == from && producer >= 0)
                    choices.push_back(producer);
            }
    } else {
        const bool after = key == Qt::Key_Right || key == Qt::Key_Down;
        const auto across = [flowsDown](const QRectF& rect) {
            return flowsDown ? std::pair(rect.left(), rect.right())
                             : std::pair(rect.top(), rect.bottom());
        };
        const auto inFlow = [flowsDown](const QRectF& rect) {
            return flowsDown ? std::pair(rect.top(), rect.bottom())
                             : std::pair(rect.left(), rect.right());
        };
        const auto [begin, end] = across(start.rect);
        const auto [first, last] = inFlow(start.rect);
        for (std::size_t i = 0; i < drawing.nodes.size(); ++i) {
            const auto [otherBegin, otherEnd] = across(drawing.nodes[i].rect);
            const auto [otherFirst, otherLast] = inFlow(drawing.nodes[i].rect);
            if (otherLast > first && otherFirst < last
                && (after ? otherBegin > end : otherEnd < begin))
                choices.push_back(int(i));
        }
    }
    const QPointF at = start.rect.center();
    const auto distance = [&](int node) {
        const QPointF d = drawing.nodes[std::size_t(node)].rect.center() - at;
        return std::hypot(d.x(), d.y());
    };
    const auto nearest = std::min_element(choices.begin(), choices.end(),
                                          [&](int a, int b) { return distance(a) < distance(b); });
    return nearest == choices.end() ? -1 : *nearest;
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/graph_drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace qs {

namespace {

/// Room for a label on either side of its edge, in scene units.
constexpr double kLabelRoom = 100;
/// Number of sample points for the distance to a curved stretch.
constexpr int kEdgeSamples = 24;

double distanceTo(const QPointF& at, const QPointF& a, const QPointF& b)
{
    const QPointF along = b - a;
    const double length = QPointF::dotProduct(along, along);
    const double share
        = length > 0 ? std::clamp(QPointF::dotProduct(at - a, along) / length, 0.0, 1.0) : 0;
    const QPointF off = at - a - along * share;
    return std::hypot(off.x(), off.y());
}

/// Returns the distance of a point from the curve that `addStretch` draws.
double distanceToStretch(const QPointF& at, const QPointF& from, const QPointF& to, Flow flow)
{
    QPainterPath path(from);
    addStretch(path, from, to, flow);
    double nearest = std::numeric_limits<double>::infinity();
    QPointF before = from;
    for (int k = 1; k <= kEdgeSamples; ++k) {
        const QPointF next = path.pointAtPercent(double(k) / kEdgeSamples);
        nearest = std::min(nearest, distanceTo(at, before, next));
        before = next;
    }
    return nearest;
}

} // namespace

void addStretch(QPainterPath& path, const QPointF& from, const QPointF& to, Flow flow)
{
    const QPointF along = to - from;
    if (std::abs(flow == Flow::Down ? along.x() : along.y()) < 1) {
        path.lineTo(to);
        return;
    }
    if (flow == Flow::Right) {
        const double middle = (from.x() + to.x()) / 2;
        path.cubicTo(QPointF(middle, from.y()), QPointF(middle, to.y()), to);
        return;
    }
    const double middle = (from.y() + to.y()) / 2;
    path.cubicTo(QPointF(from.x(), middle), QPointF(to.x(), middle), to);
}

std::array<QPointF, 3> arrowHead(const QPointF& tip, double halfWidth, double length, Flow flow)
{
    if (flow == Flow::Right)
        return {tip, tip + QPointF(-length, -halfWidth), tip + QPointF(-length, halfWidth)};
    return {tip, tip + QPointF(-halfWidth, -length), tip + QPointF(halfWidth, -length)};
}

GraphDrawing::LabelPlace GraphDrawing::labelPlace(const DrawnEdge& edge, bool otherSide) const
{
    const auto stretch = pointsOf(edge);
    const QPointF start = stretch[0], next = stretch[1];
    // Usually on the side that the line turns away from.
    if (flow == Flow::Right)
        return {start + QPointF(6, (next.y() >= start.y() - 2) != otherSide ? -5 : 13), false};
    const bool right = (next.x() <= start.x() + 2) != otherSide;
    return {start + QPointF(right ? 7 : -7, 17), !right};
}

QPainterPath GraphDrawing::pathOf(const DrawnEdge& edge) const
{
    const auto stretch = pointsOf(edge);
    QPainterPath path(stretch.front());
    for (std::size_t i = 1; i < stretch.size(); ++i)
        addStretch(path, stretch[i - 1], stretch[i], flow);
    return path;
}

int GraphDrawing::edgeAt(const QPointF& at, double reach) const
{
    int found = -1;
    double nearest = reach;
    const QRectF around(at.x() - reach, at.y() - reach, 2 * reach, 2 * reach);
    for (const int index : edgeGrid.find(around)) {
        const auto stretch = pointsOf(edges[std::size_t(index)]);
        for (std::size_t i = 1; i < stretch.size(); ++i) {
            const QRectF box
                = QRectF(stretch[i - 1], stretch[i]).normalized().adjusted(-1, -1, 1, 1);
            if (!box.intersects(around))
                continue;
            const double distance = distanceToStretch(at, stretch[i - 1], stretch[i], flow);
            if (distance < nearest) {
                nearest = distance;
                found = index;
            }
        }
    }
    return found;
}

void GraphDrawing::turn()
{
    const auto turned = [](const QRectF& rect) {
        return QRectF(rect.y(), rect.x(), rect.height(), rect.width());
    };
    for (auto& node : nodes)
        node.rect = turned(node.rect);
    for (auto& box : boxes)
        box.rect = turned(box.rect);
    for (auto& point : points)
        point = point.transposed();
    bounds = turned(bounds);
}

void GraphDrawing::finish()
{
    const std::size_t entries = tree->size();
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
            emit(int(i), nodes[i].rect.adjusted(0, -16, 0, 0)); // its references are above
    });
    boxGrid.build(bounds, boxes.size(), [this](const auto& emit) {
        for (std::size_t i = 0; i < boxes.size(); ++i)
            emit(int(i), boxes[i].rect);
    });
    edgeGrid.build(bounds, edges.size(), [this](const auto& emit) {
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const auto line = pointsOf(edges[i]);
            for (std::size_t p = 1; p < line.size(); ++p)
                emit(int(i),
                     QRectF(line[p - 1], line[p])
                         .normalized()
                         .adjusted(-kLabelRoom, -18, kLabelRoom, 18));
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

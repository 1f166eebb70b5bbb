// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/edge_labels.h"

#include "ui/graph/node_words.h"
#include "ui/style/theme.h"

#include <QFontMetricsF>
#include <QHash>

#include <cmath>

namespace qs {

namespace {

constexpr double kAscent = 11, kHeight = 13;
constexpr double kCell = 256; ///< cell size of the grid for collision tests

/// The placed labels in a grid.
class PlacedLabels
{
public:
    bool isFree(const QRectF& rect) const
    {
        bool free = true;
        forCells(rect, [&](const std::pair<int, int>& cell) {
            for (const QRectF& other : m_cells.value(cell))
                free &= !other.intersects(rect);
        });
        return free;
    }
    void add(const QRectF& rect)
    {
        forCells(rect, [&](const std::pair<int, int>& cell) { m_cells[cell] << rect; });
    }

private:
    template<class Visit>
    static void forCells(const QRectF& rect, Visit visit)
    {
        for (int x = int(std::floor(rect.left() / kCell)); x * kCell <= rect.right(); ++x)
            for (int y = int(std::floor(rect.top() / kCell)); y * kCell <= rect.bottom(); ++y)
                visit(std::pair(x, y));
    }

    QHash<std::pair<int, int>, QVector<QRectF>> m_cells;
};

bool isOnNode(const GraphDrawing& drawing, const QRectF& rect)
{
    for (const int index : drawing.nodeGrid.find(rect)) {
        QRectF taken = drawing.nodes[std::size_t(index)].rect;
        if (!drawing.referencesOf(index).empty())
            taken.setTop(taken.top() - 16); // the names of its references are above it
        if (taken.intersects(rect))
            return true;
    }
    return false;
}

} // namespace

std::vector<EdgeLabel> placeEdgeLabels(const GraphDrawing& drawing)
{
    std::vector<EdgeLabel> out(drawing.edges.size());
    const QFontMetricsF metrics(sceneMonoFont(9.5));
    PlacedLabels placed;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const DrawnEdge& edge = drawing.edges[i];
        if (!edge.labelled)
            continue;
        const QString text = shapeText(drawing.graph->value(edge.value).type);
        if (text.isEmpty())
            continue;
        const double width = metrics.horizontalAdvance(text);
        for (const bool other : {false, true}) {
            const auto place = drawing.labelPlace(edge, other);
            const QPointF corner(place.at.x() - (place.endsThere ? width : 0),
                                 place.at.y() - kAscent);
            const QRectF rect(corner, QSizeF(width, kHeight));
            if (isOnNode(drawing, rect) || !placed.isFree(rect))
                continue;
            placed.add(rect);
            out[i] = {text, rect};
            break;
        }
    }
    return out;
}

} // namespace qs

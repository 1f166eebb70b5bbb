// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/graph_style.h"
#include "ui/graph/spatial_grid.h"

#include <QGraphicsItem>

namespace qs {

/// Paints the whole graph as one item: frames, edges and nodes that touch the exposed region, with
/// less detail the further away. GUI thread only.
class GraphCanvas : public QGraphicsItem
{
public:
    /// Detail levels, by scale of the view.
    static constexpr double kTextLod = 0.45; ///< below: no second lines, shapes or badge figures
    static constexpr double kTitleLod = 0.28; ///< below: plain rectangles

    void setDrawing(GraphDrawingPtr drawing);
    void setStyle(GraphStyle style);
    const GraphDrawingPtr& drawing() const { return m_drawing; }
    const GraphStyle& style() const { return m_style; }
    /// Index into `drawing()->nodes`; -1 where there is none.
    int nodeAt(const QPointF& at) const;
    /// Innermost frame whose header is there; -1 where there is none.
    int frameHeaderAt(const QPointF& at) const;
    int nodesPainted() const { return m_nodesPainted; }

    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    void paintFrame(QPainter& p, int index, double lod) const;
    void paintEdge(QPainter& p, int index, double lod) const;
    void paintNode(QPainter& p, int index, double lod) const;
    void paintBadge(QPainter& p, const NodeStyle& look, const QRectF& rect, double lod) const;
    void paintReferences(QPainter& p, const QRectF& exposed) const;

    GraphDrawingPtr m_drawing;
    GraphStyle m_style;
    SpatialGrid m_nodeGrid, m_edgeGrid, m_boxGrid;
    std::vector<QPainterPath> m_paths;
    int m_nodesPainted = 0;
};

} // namespace qs

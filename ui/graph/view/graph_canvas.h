// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/layout/edge_labels.h"
#include "ui/graph/style/graph_style.h"

#include <QGraphicsItem>
#include <QHash>

namespace qs {

/// Returns the fill of a frame; it depends on the nesting depth.
QColor frameFill(int depth);
/// Returns the colour of an edge that is not highlighted: dimmed if it carries only sizes.
QColor edgeColor(const DrawnEdge& edge);

/// Paints the whole graph as one item: the frames, edges and nodes in the exposed region. Detail is
/// reduced at small scales and for many items. GUI thread only.
class GraphCanvas : public QGraphicsItem
{
public:
    void setDrawing(GraphDrawingPtr drawing);
    void setStyle(GraphStyle style);
    /// Highlights the edges between these entries; empty: none.
    void setTraced(std::vector<char> byEntry);
    const GraphDrawingPtr& drawing() const { return m_drawing; }
    const GraphStyle& style() const { return m_style; }
    /// Index into `drawing()->nodes`; -1 without a node.
    int nodeAt(const QPointF& at) const;
    /// Index of the node whose list of references is at the point; -1 without one.
    int referencesAt(const QPointF& at) const;
    /// Index of the innermost frame whose header is at the point; -1 without one.
    int frameHeaderAt(const QPointF& at) const;
    /// "← cos, sin" at a node with references, "← a, b and 7 more"; else empty.
    QString referenceText(int node) const;

    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;
    /// The labels by edge of the drawing, placed on first use.
    const std::vector<EdgeLabel>& labels() const;
    enum class Edges
    {
        Quick, ///< plain lines if there are very many
        Fine
    };
    /// Paints a region at a scale, for pictures and files.
    void render(QPainter& p, const QRectF& exposed, double lod, Edges edges = Edges::Quick);

private:
    void paintFrame(QPainter& p, int index, double lod) const;
    void paintEdges(QPainter& p, const QRectF& exposed, double lod, Edges detail) const;
    void paintEdgesPlainly(QPainter& p, const std::vector<int>& edges, double lod) const;
    void paintEdge(QPainter& p, const DrawnEdge& edge, const QRectF& exposed, double lod) const;
    void paintNodesPlainly(QPainter& p, const std::vector<int>& nodes, double lod) const;
    void paintReferences(QPainter& p, int node) const;
    QRectF referenceRect(int node) const;
    bool isTraced(const DrawnEdge& edge) const;
    const NodeText& textOf(int node, double lod);

    GraphDrawingPtr m_drawing;
    GraphStyle m_style;
    QHash<int, NodeText> m_texts; ///< of nodes painted in `m_style`, at most `kKeptTexts`
    double m_textsLod = 0; ///< level of detail of `m_texts`
    std::vector<char> m_traced;
    mutable std::vector<EdgeLabel> m_labels; ///< of `m_drawing`, filled on first use
};

} // namespace qs

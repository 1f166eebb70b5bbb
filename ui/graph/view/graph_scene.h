// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_canvas.h"

#include <QGraphicsScene>

namespace qs {

class EdgeItem;
class FanOutItem;
class HotItem;

/// The scene: the canvas, and separate items only for selected or hovered nodes and edges. GUI
/// thread only.
class GraphScene : public QGraphicsScene
{
    Q_OBJECT

public:
    explicit GraphScene(QObject* parent = nullptr);
    ~GraphScene() override;

    GraphCanvas& canvas() { return *m_canvas; }
    const GraphCanvas& canvas() const { return *m_canvas; }
    const GraphDrawingPtr& drawing() const { return m_canvas->drawing(); }
    void setDrawing(GraphDrawingPtr drawing);
    void setStyle(GraphStyle style);
    /// Outlines the nodes and frames of these entries.
    void setSelectedEntries(const std::vector<int>& entries);
    void setHovered(int nodeIndex);
    /// Highlighted edges: stretches of the selected edge, stretches of those that share its
    /// observer, and the entries of their producers.
    struct LitEdges
    {
        std::vector<int> chosen, partners, makers;
        friend bool operator==(const LitEdges&, const LitEdges&) = default;
    };
    void setLitEdges(LitEdges lit);
    const LitEdges& litEdges() const { return m_lit; }
    void setHoveredEdge(int stretch);
    /// Draws lines from a value to the readers that show it by name; without readers removes them.
    void setFanOut(const QRectF& from, std::vector<QRectF> readers);
    /// The rectangle of an entry: its node, its frame, or the folded module around it.
    QRectF rectOf(int entry) const;

Q_SIGNALS:
    void drawingChanged();

private:
    GraphCanvas* m_canvas;
    std::vector<HotItem*> m_selected;
    HotItem* m_hover = nullptr;
    FanOutItem* m_fanOut = nullptr;
    LitEdges m_lit;
    std::vector<QGraphicsItem*> m_litItems;
    EdgeItem* m_hoveredEdge = nullptr;
};

} // namespace qs

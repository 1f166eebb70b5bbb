// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_canvas.h"

#include <QGraphicsScene>

namespace qs {

class EdgeItem;
class FanOutItem;
class HotItem;

/// The scene: the canvas, and items only for what is selected or hovered. GUI thread only.
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
    /// Marks the drawn things of these entries.
    void setSelectedEntries(const std::vector<int>& entries);
    void setHovered(int nodeIndex);
    /// The highlighted edges: stretches of the selected one, those that share its observer, and the
    /// producers of their values, by entry.
    struct LitEdges
    {
        std::vector<int> chosen, partners, makers;
        friend bool operator==(const LitEdges&, const LitEdges&) = default;
    };
    void setLitEdges(LitEdges lit);
    const LitEdges& litEdges() const { return m_lit; }
    void setHoveredEdge(int stretch);
    /// Lines from a value to the readers that only name it; no readers: none.
    void setFanOut(const QRectF& from, std::vector<QRectF> readers);
    /// Where an entry is drawn: as node, as frame, or as the folded module around it.
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

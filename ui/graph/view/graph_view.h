// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_scene.h"

#include <QGraphicsView>

#include <functional>

class QRubberBand;

namespace qs {

/// Pan and zoom as in Netron: the wheel scrolls, Ctrl+wheel zooms, dragging pans; a click selects,
/// Ctrl or Shift adds; Shift+dragging selects what the rectangle touches (with Ctrl: adds it),
/// Ctrl+dragging zooms to it; dragging an edge feeds its reader from elsewhere (`RewireDrag`); a
/// double click folds and unfolds (Alt: with all inside), or looks into a node that has something
/// inside, as Enter does; Space fits. GUI thread only.
class GraphView : public QGraphicsView
{
    Q_OBJECT

public:
    explicit GraphView(QWidget* parent = nullptr);
    ~GraphView() override;

    GraphScene& graphScene() { return m_scene; }
    /// 1 is "100 %": words as large as those around the graph.
    double zoom() const { return pixelScale() / wordScale(); }
    /// Pixels of the screen to a unit of the scene.
    double pixelScale() const { return transform().m11(); }
    /// The number of paints since the view was made, for tests and screenshots.
    int paintCount() const { return m_paintCount; }

    void zoomBy(double factor);
    void setZoom(double zoom);
    void zoomTo(const QRectF& area);
    /// Shows the whole graph, but not larger than 100 %, nor smaller than is readable: then from
    /// the top, or from the left where it runs to the right.
    void fitStart();
    /// Shows the whole graph, but not larger than 100 %; so it stays when the view is resized,
    /// until something else is looked at.
    void fitAll();
    /// Pixels across the flow that something beside the view takes away where not all of the graph
    /// is in sight.
    void setReserved(int width) { m_reserved = width; }
    void centerOnEntry(int entry);
    bool isShowing(const QRectF& rect) const;
    /// The stretch of an edge at a point of the scene without a node; else -1.
    int stretchAt(const QPointF& at) const;
    /// More lines for the tool tip of an entry that is hovered.
    void setTipLines(std::function<QStringList(int entry)> lines) { m_tipLines = std::move(lines); }
    /// Words of the tool tip have changed.
    void refreshTip();

Q_SIGNALS:
    void entryClicked(int entry, bool extend);
    void emptyClicked();
    /// An index into the drawing's edges.
    void edgeClicked(int stretch);
    /// The list of values that a node shows by name; an index into the drawing's nodes.
    void namesClicked(int node);
    /// Everything drawn as a node that a dragged rectangle touches.
    void entriesBanded(const std::vector<int>& entries, bool extend);
    void foldToggled(int entry, bool recursively);
    /// A double click on an entry that is not a module.
    void entryActivated(int entry);
    /// Enter: look into the selection.
    void activateWanted();
    /// An arrow key without modifiers.
    void walkWanted(Qt::Key key);
    void viewChanged();
    void contextMenuWanted(int entry, const QPoint& at);
    /// For the edge that was pointed at by `edgeClicked` or `namesClicked` just before.
    void edgeMenuWanted(const QPoint& at);

protected:
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    /// The entry drawn at a point of the viewport: a node, or the frame whose header is there.
    int entryAt(const QPoint& at) const;
    void hover(const QPointF& at);
    QString showNamed(int node);
    QString tipOf(int node) const;
    /// Shows lines to the readers that show the node's value by name; returns their number.
    int showFanOut(int node);

    /// Whether an edge, or the names of values that a node reads, are at this point of the scene.
    bool pointAtEdge(const QPointF& at);
    void selectBand(bool extend);
    /// The chosen text size; 1 at 100 %.
    static double wordScale();
    /// At which the whole graph has room.
    double wholeZoom() const;
    /// As far as one may zoom out: far enough for any graph.
    double leastZoom() const;

    GraphScene m_scene;
    std::function<QStringList(int)> m_tipLines;
    QRubberBand* m_band;
    QPoint m_pressed, m_lastDrag;
    bool m_dragging = false;
    bool m_fitted = false; ///< shows the whole graph; the user has not moved it since
    bool m_bandZooms = false; ///< the rectangle is for zooming, not for selecting
    int m_paintCount = 0;
    int m_reserved = 0;
    int m_hovered = -1, m_hoveredName = -1, m_hoveredEdge = -1;
    int m_hoveredReaders = 0; ///< that name what is hovered
};

} // namespace qs

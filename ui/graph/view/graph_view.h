// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_scene.h"

#include <QGraphicsView>

#include <functional>

class QRubberBand;

namespace qs {

/// Pan and zoom as in Netron: the wheel scrolls, Ctrl+wheel zooms, dragging pans. A click selects,
/// with Ctrl or Shift it adds. Shift+dragging selects the nodes that the rectangle touches (with
/// Ctrl: adds them); Ctrl+dragging zooms to the rectangle. Dragging an edge feeds its reader from
/// another value (`RewireDrag`). A double click folds and unfolds (Alt: recursively), or opens the
/// body of a node, as Enter does. Space fits. GUI thread only.
class GraphView : public QGraphicsView
{
    Q_OBJECT

public:
    explicit GraphView(QWidget* parent = nullptr);
    ~GraphView() override;

    GraphScene& graphScene() { return m_scene; }
    /// 1 is "100 %": text has the size of the window's text.
    double zoom() const { return pixelScale() / wordScale(); }
    /// Screen pixels per scene unit.
    double pixelScale() const { return transform().m11(); }
    /// The number of paints since the view was made, for tests and screenshots.
    int paintCount() const { return m_paintCount; }

    void zoomBy(double factor);
    void setZoom(double zoom);
    void zoomTo(const QRectF& area);
    /// Shows the whole graph, at most at 100 %. If that is too small to read: its start at a
    /// readable size, from the top, or from the left if it runs to the right.
    void fitStart();
    /// Shows the whole graph, at most at 100 %. Resizing the view keeps it fitted until the user
    /// moves the view.
    void fitAll();
    /// Reserves pixels across the flow for the minimap, which appears when the graph is not fully
    /// visible.
    void setReserved(int width) { m_reserved = width; }
    void centerOnEntry(int entry);
    bool isShowing(const QRectF& rect) const;
    /// The stretch of an edge at a point of the scene without a node; else -1.
    int stretchAt(const QPointF& at) const;
    /// Sets the source of additional lines for the tool tip of a hovered entry.
    void setTipLines(std::function<QStringList(int entry)> lines) { m_tipLines = std::move(lines); }
    /// Updates the tool tip after its text changed.
    void refreshTip();

Q_SIGNALS:
    void entryClicked(int entry, bool extend);
    void emptyClicked();
    /// `stretch`: an index into the drawing's edges.
    void edgeClicked(int stretch);
    /// A click on the values that a node shows by name. `node`: an index into the drawing's nodes.
    void namesClicked(int node);
    /// The entries of the nodes that a dragged rectangle touches.
    void entriesBanded(const std::vector<int>& entries, bool extend);
    void foldToggled(int entry, bool recursively);
    /// A double click on an entry that is not a module.
    void entryActivated(int entry);
    /// Enter: open the body of the selection.
    void activateWanted();
    /// An arrow key without modifiers.
    void walkWanted(Qt::Key key);
    void viewChanged();
    void contextMenuWanted(int entry, const QPoint& at);
    /// For the edge of the preceding `edgeClicked` or `namesClicked`.
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
    /// The entry drawn at a point of the viewport: that of a node, or of a frame by its header.
    int entryAt(const QPoint& at) const;
    void hover(const QPointF& at);
    QString showNamed(int node);
    QString tipOf(int node) const;
    /// Shows lines to the readers that show the node's value by name; returns their number.
    int showFanOut(int node);

    /// Emits `edgeClicked` or `namesClicked` if an edge or a list of names is at this point of the
    /// scene; returns whether one is.
    bool pointAtEdge(const QPointF& at);
    void selectBand(bool extend);
    /// The chosen text size; 1 at 100 %.
    static double wordScale();
    /// The zoom at which the whole graph fits.
    double wholeZoom() const;
    /// The minimum zoom: shows any graph as a whole.
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
    int m_hoveredReaders = 0; ///< number of readers that show the hovered value by name
};

} // namespace qs

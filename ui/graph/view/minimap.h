// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPixmap>
#include <QWidget>

namespace qs {

class GraphView;

/// The whole graph in a strip beside its view, with the visible part outlined. A click or drag
/// moves the view. GUI thread only.
class Minimap : public QWidget
{
    Q_OBJECT

public:
    Minimap(GraphView& view, QWidget* parent);
    /// Repaints after the style or layout changed.
    void repaintGraph();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QTransform toMap() const;
    void paintGraph();
    void goTo(const QPointF& at);

    GraphView& m_view;
    QPixmap m_picture; ///< the graph without the outline; null: not painted yet
};

} // namespace qs

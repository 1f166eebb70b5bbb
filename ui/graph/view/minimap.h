// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPixmap>
#include <QWidget>

namespace qs {

class GraphView;

/// The whole graph in a strip beside its view, with the visible part outlined; a click or drag
/// goes there. GUI thread only.
class Minimap : public QWidget
{
    Q_OBJECT

public:
    Minimap(GraphView& view, QWidget* parent);
    /// The graph has another style or layout.
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
    QPixmap m_picture; ///< the graph without the outline; null: to be painted anew
};

} // namespace qs

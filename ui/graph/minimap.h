// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPixmap>
#include <QWidget>

namespace qs {

class GraphView;

/// The whole graph in a corner, with the visible part outlined; a click or drag goes there. GUI
/// thread only.
class Minimap : public QWidget
{
    Q_OBJECT

public:
    Minimap(GraphView& view, QWidget* parent);
    /// Takes up what the view shows now; hidden while that is all of the graph.
    void follow();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    QTransform toMap() const;
    void paintGraph();
    void goTo(const QPointF& at);

    GraphView& m_view;
    QPixmap m_picture; ///< the graph without the outline; null: to be painted anew
};

} // namespace qs

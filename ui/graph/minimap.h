// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    QTransform toMap() const;
    void goTo(const QPointF& at);

    GraphView& m_view;
};

} // namespace qs

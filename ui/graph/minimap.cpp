// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/minimap.h"

#include "ui/graph/graph_view.h"
#include "ui/shell/theme.h"

#include <QMouseEvent>
#include <QPainter>

namespace qs {

Minimap::Minimap(GraphView& view, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
{
    setObjectName(QStringLiteral("minimap"));
    setFixedSize(92, 104);
    setToolTip(QStringLiteral("The whole graph: click or drag to go there"));
    connect(&view, &GraphView::viewChanged, this, qOverload<>(&QWidget::update));
    connect(&view.graphScene(), &GraphScene::drawingChanged, this, qOverload<>(&QWidget::update));
}

QTransform Minimap::toMap() const
{
    const QRectF bounds = m_view.graphScene().drawing()->bounds;
    const QRectF room = QRectF(rect()).adjusted(7, 7, -7, -7);
    const double scale = std::min(room.width() / std::max(bounds.width(), 1.0),
                                  room.height() / std::max(bounds.height(), 1.0));
    QTransform map;
    map.translate(room.center().x(), room.center().y());
    map.scale(scale, scale);
    map.translate(-bounds.center().x(), -bounds.center().y());
    return map;
}

void Minimap::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(theme().border);
    p.setBrush(theme().panel);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    const auto& drawing = m_view.graphScene().drawing();
    if (!drawing)
        return;
    const QTransform map = toMap();
    const auto& style = m_view.graphScene().canvas().style();
    p.setPen(Qt::NoPen);
    for (std::size_t i = 0; i < drawing->nodes.size(); ++i) {
        QColor color = theme().faint;
        if (i < style.nodes.size())
            color = style.scale && !style.nodes[i].badge.isEmpty() ? style.nodes[i].badgeFill
                                                                   : style.nodes[i].bar;
        QRectF rect = map.mapRect(drawing->nodes[i].rect);
        if (rect.height() < 2)
            rect.setHeight(2);
        p.setBrush(color);
        p.drawRect(rect);
    }
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(theme().accent, 1.5));
    const QRectF seen = map.mapRect(m_view.mapToScene(m_view.viewport()->rect()).boundingRect());
    p.drawRoundedRect(seen.intersected(QRectF(rect()).adjusted(3, 3, -3, -3)), 3, 3);
}

void Minimap::goTo(const QPointF& at)
{
    if (m_view.graphScene().drawing())
        m_view.centerOn(toMap().inverted().map(at));
}

void Minimap::mousePressEvent(QMouseEvent* event)
{
    goTo(event->position());
}

void Minimap::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() & Qt::LeftButton)
        goTo(event->position());
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/minimap.h"

#include "ui/graph/view/graph_view.h"
#include "ui/graph/view/node_painter.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QMouseEvent>
#include <QPainter>

namespace qs {

namespace {

/// Minimum share of the map's width or height that the graph takes.
constexpr double kLeastShare = 0.3;
/// Minimum size of a node, in pixels.
constexpr double kLeastNode = 2;

} // namespace

Minimap::Minimap(GraphView& view, QWidget* parent)
    : QWidget(parent)
    , m_view(view)
{
    setNames(*this, "minimap", {}, tr("The whole graph: click or drag to go there"));
    connect(&view, &GraphView::viewChanged, this, qOverload<>(&QWidget::update));
    connect(&view.graphScene(), &GraphScene::drawingChanged, this, &Minimap::repaintGraph);
}

void Minimap::repaintGraph()
{
    m_picture = {};
    update();
}

void Minimap::resizeEvent(QResizeEvent*)
{
    repaintGraph();
}

QTransform Minimap::toMap() const
{
    const QRectF bounds = m_view.graphScene().drawing()->bounds;
    const QRectF room = QRectF(rect()).adjusted(7, 7, -7, -7);
    const double wide = room.width() / std::max(bounds.width(), 1.0);
    const double high = room.height() / std::max(bounds.height(), 1.0);
    // Widen a very long graph, as it would not be visible otherwise.
    const double scale = std::min(wide, high);
    QTransform map;
    map.translate(room.center().x(), room.center().y());
    map.scale(std::max(scale, wide * kLeastShare), std::max(scale, high * kLeastShare));
    map.translate(-bounds.center().x(), -bounds.center().y());
    return map;
}

/// Panning only moves the outline: the graph itself is painted once per drawing and style.
void Minimap::paintGraph()
{
    const double ratio = devicePixelRatioF();
    m_picture = QPixmap(size() * ratio);
    m_picture.setDevicePixelRatio(ratio);
    m_picture.fill(Qt::transparent);
    QPainter p(&m_picture);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.fillRect(rect(), theme().panel);
    const auto& drawing = m_view.graphScene().drawing();
    if (drawing && drawing->flow == Flow::Right)
        p.fillRect(0, height() - 1, width(), 1, theme().border);
    else
        p.fillRect(width() - 1, 0, 1, height(), theme().border);
    if (!drawing)
        return;
    const QTransform map = toMap();
    const auto& style = m_view.graphScene().canvas().style();
    p.setRenderHint(QPainter::Antialiasing, drawing->nodes.size() < 500);
    for (std::size_t i = 0; i < drawing->nodes.size(); ++i) {
        const QRgb color = i < style.nodes.size() ? plainColor(style.nodes[i], style.scale)
                                                  : theme().faint.rgb();
        QRectF rect = map.mapRect(drawing->nodes[i].rect);
        rect.setWidth(std::max(rect.width(), kLeastNode));
        rect.setHeight(std::max(rect.height(), kLeastNode));
        p.fillRect(rect, QColor(color));
    }
}

void Minimap::paintEvent(QPaintEvent*)
{
    if (m_picture.isNull())
        paintGraph();
    QPainter p(this);
    p.drawPixmap(0, 0, m_picture);
    if (!m_view.graphScene().drawing())
        return;
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(theme().accent, 1.5));
    QRectF seen = toMap().mapRect(m_view.mapToScene(m_view.viewport()->rect()).boundingRect());
    // A minimum size keeps the outline visible.
    seen = seen.united(QRectF(seen.center() - QPointF(4, 2), QSizeF(8, 4)));
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

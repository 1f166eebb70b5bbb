// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/hot_item.h"

#include "ui/style/theme.h"

#include <QPainter>

namespace qs {

namespace {

QPen penOf(HotItem::Style style, double zoom)
{
    QPen pen(style == HotItem::Style::Hovered ? theme().faint : theme().accent,
             style == HotItem::Style::Selected ? 2.5 : 1.5);
    if (style == HotItem::Style::Partner)
        pen.setStyle(Qt::DashLine);
    pen.setCosmetic(zoom < 0.5);
    return pen;
}

constexpr double kTip = 5;

} // namespace

HotItem::HotItem(const QRectF& rect, Style style)
    : m_rect(rect)
    , m_style(style)
{
    setAcceptedMouseButtons(Qt::NoButton);
    setZValue(style == Style::Selected ? 2 : 1);
}

void HotItem::setRect(const QRectF& rect)
{
    prepareGeometryChange();
    m_rect = rect;
}

QRectF HotItem::boundingRect() const
{
    return m_rect.adjusted(-3, -3, 3, 3);
}

void HotItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*)
{
    painter->setRenderHint(QPainter::Antialiasing, true);
    const QPen pen = penOf(m_style, painter->worldTransform().m11());
    painter->setPen(pen);
    painter->setBrush(Qt::NoBrush);
    const double radius = m_rect.height() > 60 ? 10 : 6;
    painter->drawRoundedRect(m_rect, radius, radius);
}

EdgeItem::EdgeItem(const GraphDrawing& drawing, const std::vector<int>& edges, HotItem::Style style)
    : m_style(style)
    , m_flow(drawing.flow)
{
    setAcceptedMouseButtons(Qt::NoButton);
    setZValue(style == HotItem::Style::Selected ? 2 : 1);
    for (const int index : edges) {
        const DrawnEdge& edge = drawing.edges[std::size_t(index)];
        m_path.addPath(drawing.pathOf(edge));
        if (edge.arrow)
            m_tips.push_back(drawing.pointsOf(edge).back());
    }
}

QRectF EdgeItem::boundingRect() const
{
    return m_path.boundingRect().adjusted(-10, -10, 10, 10);
}

void EdgeItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*)
{
    painter->setRenderHint(QPainter::Antialiasing, true);
    const QPen pen = penOf(m_style, painter->worldTransform().m11());
    painter->setPen(pen);
    painter->setBrush(Qt::NoBrush);
    painter->drawPath(m_path);
    painter->setPen(Qt::NoPen);
    painter->setBrush(pen.color());
    for (const QPointF& tip : m_tips) {
        const auto head = arrowHead(tip, kTip, 8, m_flow);
        painter->drawPolygon(head.data(), int(head.size()));
    }
}

FanOutItem::FanOutItem(const QRectF& from, std::vector<QRectF> readers)
    : m_from(from)
    , m_bounds(from.adjusted(-4, -4, 4, 4))
    , m_readers(std::move(readers))
{
    setAcceptedMouseButtons(Qt::NoButton);
    setZValue(3);
    for (const QRectF& reader : m_readers)
        m_bounds = m_bounds.united(reader.adjusted(-4, -4, 4, 4));
}

void FanOutItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*)
{
    // There may be hundreds of long lines: thin lines without antialiasing are fast.
    painter->setRenderHint(QPainter::Antialiasing, false);
    painter->setPen(QPen(theme().accent, 0, Qt::DashLine));
    painter->setBrush(Qt::NoBrush);
    for (const QRectF& reader : m_readers) {
        const bool below = reader.top() > m_from.bottom();
        painter->drawLine(QPointF(m_from.center().x(), below ? m_from.bottom() : m_from.top()),
                          QPointF(reader.left() + 20, below ? reader.top() : reader.bottom()));
        painter->drawRect(reader.adjusted(-2, -2, 2, 2));
    }
}

} // namespace qs

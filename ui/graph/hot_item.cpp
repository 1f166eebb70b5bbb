// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/hot_item.h"

#include "ui/shell/theme.h"

#include <QPainter>

namespace qs {

HotItem::HotItem(const QRectF& rect, Look look)
    : m_rect(rect)
    , m_look(look)
{
    setAcceptedMouseButtons(Qt::NoButton);
    setZValue(look == Look::Selected ? 2 : 1);
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
    QPen pen(m_look == Look::Selected ? theme().accent : theme().faint,
             m_look == Look::Selected ? 2.5 : 1.5);
    pen.setCosmetic(painter->worldTransform().m11() < 0.5);
    painter->setPen(pen);
    painter->setBrush(Qt::NoBrush);
    const double radius = m_rect.height() > 60 ? 10 : 6;
    painter->drawRoundedRect(m_rect, radius, radius);
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
    // Hundreds of long lines: thin and unsmoothed is quick.
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

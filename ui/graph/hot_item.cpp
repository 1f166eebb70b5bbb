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

} // namespace qs

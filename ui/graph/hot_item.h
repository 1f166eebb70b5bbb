// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QGraphicsItem>

namespace qs {

/// The outline around one selected or hovered thing. GUI thread only.
class HotItem : public QGraphicsItem
{
public:
    enum class Look
    {
        Selected,
        Hovered
    };
    HotItem(const QRectF& rect, Look look);
    void setRect(const QRectF& rect);
    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    QRectF m_rect;
    Look m_look;
};

} // namespace qs

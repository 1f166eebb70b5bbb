// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/view/graph_drawing.h"

#include <QGraphicsItem>
#include <QPainterPath>

#include <vector>

namespace qs {

/// The outline around one selected or hovered thing. GUI thread only.
class HotItem : public QGraphicsItem
{
public:
    enum class Style
    {
        Selected,
        Partner, ///< changes along with the selection
        Hovered
    };
    HotItem(const QRectF& rect, Style style);
    void setRect(const QRectF& rect);
    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    QRectF m_rect;
    Style m_style;
};

/// Highlighted edges above those of the canvas. GUI thread only.
class EdgeItem : public QGraphicsItem
{
public:
    EdgeItem(const GraphDrawing& drawing, const std::vector<int>& edges, HotItem::Style style);
    QRectF boundingRect() const override;
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    QPainterPath m_path;
    std::vector<QPointF> m_tips; ///< of arrows
    HotItem::Style m_style;
    Flow m_flow;
};

/// Lines to readers of one value that have no drawn edge. Shown on hover only.
class FanOutItem : public QGraphicsItem
{
public:
    FanOutItem(const QRectF& from, std::vector<QRectF> readers);
    QRectF boundingRect() const override { return m_bounds; }
    void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

private:
    QRectF m_from, m_bounds;
    std::vector<QRectF> m_readers;
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/graph_canvas.h"

#include "ui/shell/theme.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <QStyleOptionGraphicsItem>

namespace qs {

namespace {

constexpr double kBehind = 0.28; ///< opacity of what a filter leaves out
constexpr double kRadius = 6;
constexpr double kBarWidth = 5;
constexpr double kBadgeWidth = 38;
constexpr double kArrow = 4.5;

/// A line through the points that leaves and arrives vertically.
QPainterPath smooth(const std::vector<QPointF>& points)
{
    QPainterPath path(points.front());
    for (std::size_t i = 1; i < points.size(); ++i) {
        const QPointF a = points[i - 1], b = points[i];
        if (std::abs(a.x() - b.x()) < 1) {
            path.lineTo(b);
            continue;
        }
        const double middle = (a.y() + b.y()) / 2;
        path.cubicTo(QPointF(a.x(), middle), QPointF(b.x(), middle), b);
    }
    return path;
}

void paintFoldMark(QPainter& p, const QPointF& center, bool plus)
{
    const QRectF box(center.x() - 5, center.y() - 5, 10, 10);
    p.setPen(QPen(theme().muted, 1));
    p.setBrush(Qt::NoBrush);
    p.drawRoundedRect(box, 2, 2);
    p.drawLine(QPointF(box.left() + 2.5, center.y()), QPointF(box.right() - 2.5, center.y()));
    if (plus)
        p.drawLine(QPointF(center.x(), box.top() + 2.5), QPointF(center.x(), box.bottom() - 2.5));
}

} // namespace

void GraphCanvas::setDrawing(GraphDrawingPtr drawing)
{
    prepareGeometryChange();
    m_drawing = std::move(drawing);
    m_style = {};
    m_nodeGrid.clear();
    m_edgeGrid.clear();
    m_boxGrid.clear();
    m_paths.clear();
    if (!m_drawing)
        return;
    for (std::size_t i = 0; i < m_drawing->nodes.size(); ++i)
        m_nodeGrid.add(int(i), m_drawing->nodes[i].rect);
    for (std::size_t i = 0; i < m_drawing->boxes.size(); ++i)
        m_boxGrid.add(int(i), m_drawing->boxes[i].rect);
    m_paths.reserve(m_drawing->edges.size());
    for (std::size_t i = 0; i < m_drawing->edges.size(); ++i) {
        m_paths.push_back(smooth(m_drawing->edges[i].points));
        m_edgeGrid.add(int(i), m_paths.back().controlPointRect().adjusted(-6, -6, 90, 6));
    }
}

void GraphCanvas::setStyle(GraphStyle style)
{
    m_style = std::move(style);
    update();
}

QRectF GraphCanvas::boundingRect() const
{
    return m_drawing ? m_drawing->bounds.adjusted(-20, -20, 110, 20) : QRectF();
}

int GraphCanvas::nodeAt(const QPointF& at) const
{
    for (int index : m_nodeGrid.find(QRectF(at, QSizeF(0.1, 0.1))))
        if (m_drawing->nodes[std::size_t(index)].rect.contains(at))
            return index;
    return -1;
}

int GraphCanvas::frameHeaderAt(const QPointF& at) const
{
    int found = -1;
    for (int index : m_boxGrid.find(QRectF(at, QSizeF(0.1, 0.1)))) {
        QRectF header = m_drawing->boxes[std::size_t(index)].rect;
        header.setHeight(kBoxHeader);
        if (header.contains(at))
            found = index;
    }
    return found;
}

void GraphCanvas::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget*)
{
    if (!m_drawing)
        return;
    QPainter& p = *painter;
    const double lod = QStyleOptionGraphicsItem::levelOfDetailFromTransform(p.worldTransform());
    const QRectF exposed = option->exposedRect;
    p.setRenderHint(QPainter::Antialiasing, true);
    for (int index : m_boxGrid.find(exposed))
        paintFrame(p, index, lod);
    for (int index : m_edgeGrid.find(exposed))
        paintEdge(p, index, lod);
    const auto nodes = m_nodeGrid.find(exposed);
    for (int index : nodes)
        paintNode(p, index, lod);
    if (lod >= kTextLod)
        paintReferences(p, exposed);
    m_nodesPainted = std::max(m_nodesPainted, int(nodes.size()));
}

void GraphCanvas::paintFrame(QPainter& p, int index, double lod) const
{
    const auto& box = m_drawing->boxes[std::size_t(index)];
    const Theme& t = theme();
    p.setPen(QPen(t.frameBorder, 1));
    p.setBrush(box.depth % 2 ? t.frame : (t.dark ? t.frame.lighter(112) : t.frame.darker(103)));
    p.drawRoundedRect(box.rect, 10, 10);
    if (lod < kTitleLod || std::size_t(index) >= m_style.frameTitles.size())
        return;
    p.setPen(t.frameText);
    const QFont font = uiFont(11.5, 600);
    p.setFont(font);
    const QRectF header(box.rect.left() + 14, box.rect.top() + 4, box.rect.width() - 44,
                        kBoxHeader - 4);
    p.drawText(header, Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetricsF(font).elidedText(m_style.frameTitles[std::size_t(index)],
                                              Qt::ElideMiddle, header.width()));
    paintFoldMark(p, QPointF(box.rect.right() - 20, header.center().y()), false);
}

void GraphCanvas::paintEdge(QPainter& p, int index, double lod) const
{
    const auto& edge = m_drawing->edges[std::size_t(index)];
    const Theme& t = theme();
    p.setPen(QPen(t.edge, lod < kTitleLod ? 1.0 / std::max(lod, 0.02) : 1.4));
    p.setBrush(Qt::NoBrush);
    p.drawPath(m_paths[std::size_t(index)]);
    if (lod < kTitleLod)
        return;
    if (edge.arrow) {
        const QPointF tip = edge.points.back();
        const QPointF head[] = {tip, tip + QPointF(-kArrow, -7), tip + QPointF(kArrow, -7)};
        p.setPen(Qt::NoPen);
        p.setBrush(t.edge);
        p.drawPolygon(head, 3);
    }
    if (lod < kTextLod || !edge.labelled)
        return;
    const QString shape = shapeText(m_drawing->graph->value(edge.value).type);
    if (shape.isEmpty())
        return;
    p.setFont(monoFont(9.5));
    p.setPen(t.muted);
    const QPointF start = edge.points.front();
    // On the side that the line turns away from.
    const bool right = edge.points[1].x() <= start.x() + 2;
    const double width = QFontMetricsF(p.font()).horizontalAdvance(shape);
    p.drawText(QPointF(right ? start.x() + 7 : start.x() - 7 - width, start.y() + 17), shape);
}

void GraphCanvas::paintNode(QPainter& p, int index, double lod) const
{
    const auto& node = m_drawing->nodes[std::size_t(index)];
    const Theme& t = theme();
    static const NodeStyle plain;
    const auto& look
        = std::size_t(index) < m_style.nodes.size() ? m_style.nodes[std::size_t(index)] : plain;
    const QRectF& rect = node.rect;
    if (lod < kTitleLod) {
        p.setPen(Qt::NoPen);
        p.setBrush(look.isMeasured && m_style.scale ? look.badgeFill : look.bar);
        p.setOpacity(look.behind ? kBehind : 1);
        p.drawRoundedRect(rect, kRadius, kRadius);
        p.setOpacity(1);
        return;
    }
    p.setOpacity(look.behind ? kBehind : 1);
    p.setPen(QPen(t.nodeBorder, 1));
    p.setBrush(t.node);
    p.drawRoundedRect(rect, kRadius, kRadius);
    QPainterPath bar;
    bar.addRoundedRect(QRectF(rect.left(), rect.top(), kBarWidth, rect.height()), 2, 2);
    p.fillPath(bar, look.bar);

    const double right
        = rect.right() - (look.badge.isEmpty() ? 10 : kBadgeWidth + 16) - (look.folded ? 18 : 0);
    const bool second = lod >= kTextLod && !look.detail.isEmpty();
    const QFont title = uiFont(12, 600);
    p.setFont(title);
    p.setPen(t.text);
    QRectF line(rect.left() + 14, rect.top() + (second ? 4 : 0), right - rect.left() - 14,
                second ? 18 : rect.height());
    p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetricsF(title).elidedText(look.title, Qt::ElideRight, line.width()));
    if (second) {
        const QFont detail = monoFont(10);
        p.setFont(detail);
        p.setPen(t.muted);
        line.translate(0, 16);
        p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(detail).elidedText(look.detail, Qt::ElideRight, line.width()));
    }
    if (look.folded)
        paintFoldMark(p, QPointF(right + 9, rect.center().y()), true);
    paintBadge(p, look, rect, lod);
    p.setOpacity(1);
}

void GraphCanvas::paintBadge(QPainter& p, const NodeStyle& look, const QRectF& rect,
                             double lod) const
{
    if (look.badge.isEmpty())
        return;
    const Theme& t = theme();
    const QRectF badge(rect.right() - kBadgeWidth - 8, rect.top() + 8, kBadgeWidth,
                       rect.height() - 16);
    const bool filled = look.badgeFill.isValid() && (m_style.scale || !look.isMeasured);
    const QColor fill = filled ? look.badgeFill : t.window;
    p.save();
    if (look.faded)
        p.setOpacity(0.4);
    p.setPen(filled ? QPen(Qt::NoPen) : QPen(t.border, 1));
    p.setBrush(fill);
    p.drawRoundedRect(badge, 4, 4);
    if (lod >= kTextLod) {
        p.setFont(uiFont(look.isMeasured ? 10.5 : 9.5, 600));
        p.setPen(filled ? textOn(fill) : look.isMeasured ? t.text : t.muted);
        p.drawText(badge, Qt::AlignCenter, look.badge);
    }
    p.restore();
}

void GraphCanvas::paintReferences(QPainter& p, const QRectF& exposed) const
{
    p.setFont(monoFont(9.5));
    p.setPen(theme().accent);
    for (const auto& reference : m_drawing->references) {
        const auto it = m_drawing->nodeOfEntry.find(reference.toEntry);
        if (it == m_drawing->nodeOfEntry.end())
            continue;
        const QRectF& rect = m_drawing->nodes[std::size_t(it->second)].rect;
        if (!exposed.intersects(rect))
            continue;
        const auto& value = m_drawing->graph->value(reference.value);
        p.drawText(QPointF(rect.left() + 14, rect.top() - 4),
                   QStringLiteral("← %1").arg(QString::fromStdString(value.name)));
    }
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/graph_canvas.h"

#include "ui/graph/view/node_painter.h"
#include "ui/style/theme.h"

#include <QFontMetricsF>
#include <QHash>
#include <QPainter>
#include <QPainterPath>
#include <QStyleOptionGraphicsItem>

namespace qs {

namespace {

constexpr double kArrow = 4.5;
/// More edges than this are drawn as plain lines.
constexpr std::size_t kFineEdges = 600;
/// A node lower than this on the screen, in pixels, is drawn without rounded corners.
constexpr double kSmoothHeight = 6;
/// Share of the colour of an edge that carries only sizes.
constexpr double kDimmed = 0.4;

QColor dimmedEdge()
{
    return mixedColor(theme().edge, theme().canvas, kDimmed);
}

/// Maximum number of cached texts, a few hundred bytes each; a screen shows fewer.
constexpr qsizetype kKeptTexts = 400;
/// Minimum size of a node on the screen, in pixels.
constexpr double kLeastSeen = 1.5;

/// Returns the rectangle, enlarged to `kLeastSeen` around its middle if it is smaller.
QRectF seenAt(const QRectF& rect, double lod)
{
    const double least = kLeastSeen / lod;
    const double dx = std::max(0.0, least - rect.width()) / 2;
    const double dy = std::max(0.0, least - rect.height()) / 2;
    return rect.adjusted(-dx, -dy, dx, dy);
}

} // namespace

QColor frameFill(int depth)
{
    const Theme& t = theme();
    return depth % 2 ? t.frame : t.dark ? t.frame.lighter(112) : t.frame.darker(103);
}

QColor edgeColor(const DrawnEdge& edge)
{
    return edge.shapeOnly ? dimmedEdge() : theme().edge;
}

void GraphCanvas::setDrawing(GraphDrawingPtr drawing)
{
    prepareGeometryChange();
    m_style = {};
    m_texts.clear();
    m_traced.clear();
    m_labels.clear();
    m_drawing = std::move(drawing);
}

const std::vector<EdgeLabel>& GraphCanvas::labels() const
{
    if (m_labels.empty() && m_drawing)
        m_labels = placeEdgeLabels(*m_drawing);
    return m_labels;
}

void GraphCanvas::setStyle(GraphStyle style)
{
    m_style = std::move(style);
    m_texts.clear();
    update();
}

void GraphCanvas::setTraced(std::vector<char> byEntry)
{
    m_traced = std::move(byEntry);
    update();
}

bool GraphCanvas::isTraced(const DrawnEdge& edge) const
{
    return !m_traced.empty() && m_traced[std::size_t(edge.fromEntry)]
        && m_traced[std::size_t(edge.toEntry)];
}

QRectF GraphCanvas::boundingRect() const
{
    return m_drawing ? m_drawing->bounds.adjusted(-20, -20, 110, 20) : QRectF();
}

int GraphCanvas::nodeAt(const QPointF& at) const
{
    for (int index : m_drawing->nodeGrid.find(QRectF(at, QSizeF(0.1, 0.1))))
        if (m_drawing->nodes[std::size_t(index)].rect.contains(at))
            return index;
    return -1;
}

int GraphCanvas::referencesAt(const QPointF& at) const
{
    for (int index : m_drawing->nodeGrid.find(QRectF(at, QSizeF(0.1, 0.1))))
        if (!m_drawing->referencesOf(index).empty() && referenceRect(index).contains(at))
            return index;
    return -1;
}

int GraphCanvas::frameHeaderAt(const QPointF& at) const
{
    int found = -1;
    for (int index : m_drawing->boxGrid.find(QRectF(at, QSizeF(0.1, 0.1)))) {
        QRectF header = m_drawing->boxes[std::size_t(index)].rect;
        header.setHeight(kBoxHeader);
        if (header.contains(at))
            found = index;
    }
    return found;
}

void GraphCanvas::paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget*)
{
    if (m_drawing)
        render(*painter, option->exposedRect,
               QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform()));
}

void GraphCanvas::render(QPainter& p, const QRectF& exposed, double lod, Edges edges)
{
    p.setRenderHint(QPainter::Antialiasing, true);
    for (int index : m_drawing->boxGrid.find(exposed))
        paintFrame(p, index, lod);
    paintEdges(p, exposed, lod, edges);
    p.setRenderHint(QPainter::Antialiasing, true);
    const auto nodes = m_drawing->nodeGrid.find(exposed);
    const bool styled = m_style.nodes.size() == m_drawing->nodes.size() && m_style.words;
    const bool few = m_drawing->nodes.size() <= kFewNodes && lod >= kNameLod;
    if (!styled || (lod < kTitleLod && !few)) {
        paintNodesPlainly(p, nodes, lod);
    } else if (lod < kTitleLod) {
        for (int index : nodes)
            paintNamed(p, m_drawing->nodes[std::size_t(index)].rect,
                       m_style.nodes[std::size_t(index)], m_style.text(index).title, m_style.scale,
                       lod);
    } else {
        for (int index : nodes)
            paintNode(p, m_drawing->nodes[std::size_t(index)].rect,
                      m_style.nodes[std::size_t(index)], textOf(index, lod), m_style.scale, lod);
        if (lod >= kTextLod)
            for (int index : nodes)
                paintReferences(p, index);
    }
}

/// Returns the fitted texts of a node, cached because panning paints the same nodes again.
const NodeText& GraphCanvas::textOf(int node, double lod)
{
    if (m_textsLod != lod)
        m_texts.clear();
    m_textsLod = lod;
    if (const auto known = m_texts.constFind(node); known != m_texts.constEnd())
        return *known;
    if (m_texts.size() >= kKeptTexts)
        m_texts.clear();
    const auto at = std::size_t(node);
    return *m_texts.insert(
        node, fittedText(m_drawing->nodes[at].rect, m_style.nodes[at], m_style.text(node), lod));
}

void GraphCanvas::paintFrame(QPainter& p, int index, double lod) const
{
    const auto& box = m_drawing->boxes[std::size_t(index)];
    const Theme& t = theme();
    const QColor fill = frameFill(box.depth);
    if (lod < kTitleLod) {
        p.fillRect(seenAt(box.rect, lod), fill);
        return;
    }
    p.setPen(QPen(t.frameBorder, 1));
    p.setBrush(fill);
    p.drawRoundedRect(box.rect, 10, 10);
    const auto& entry = m_drawing->tree->entry(box.entry);
    p.setPen(t.frameText);
    const QFont font = sceneFont(11.5, 600);
    p.setFont(font);
    const QRectF header(box.rect.left() + 14, box.rect.top() + 4, box.rect.width() - 44,
                        kBoxHeader - 4);
    p.drawText(
        header, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetricsF(font).elidedText(QString::fromStdString(entry.path + "  " + entry.className),
                                       Qt::ElideMiddle, header.width()));
    paintFoldMark(p, QPointF(box.rect.right() - 20, header.center().y()), false);
}

void GraphCanvas::paintEdges(QPainter& p, const QRectF& exposed, double lod, Edges detail) const
{
    const auto edges = m_drawing->edgeGrid.find(exposed);
    if (lod < kTitleLod || (detail == Edges::Quick && edges.size() > kFineEdges)) {
        paintEdgesPlainly(p, edges, lod);
    } else {
        for (int index : edges)
            paintEdge(p, m_drawing->edges[std::size_t(index)], exposed, lod);
    }
    if (lod >= kTextLod) {
        p.setFont(sceneMonoFont(9.5));
        p.setPen(theme().muted);
        for (int index : edges)
            if (const EdgeLabel& label = labels()[std::size_t(index)]; !label.text.isEmpty())
                p.drawText(QPointF(label.rect.left(), label.rect.bottom() - 2), label.text);
    }
}

void GraphCanvas::paintEdgesPlainly(QPainter& p, const std::vector<int>& edges, double lod) const
{
    p.setRenderHint(QPainter::Antialiasing, false);
    const double shortest = 2 / lod; // shorter edges are not visible
    QVector<QLineF> plain, dimmed, traced;
    plain.reserve(int(edges.size()));
    for (int index : edges) {
        const auto& edge = m_drawing->edges[std::size_t(index)];
        auto& lines = isTraced(edge) ? traced : edge.shapeOnly ? dimmed : plain;
        const auto points = m_drawing->pointsOf(edge);
        for (std::size_t i = 1; i < points.size(); ++i)
            if (std::abs(points[i].y() - points[i - 1].y())
                    + std::abs(points[i].x() - points[i - 1].x())
                > shortest)
                lines << QLineF(points[i - 1], points[i]);
    }
    p.setPen(QPen(dimmedEdge(), 0));
    p.drawLines(dimmed);
    p.setPen(QPen(theme().edge, 0));
    p.drawLines(plain);
    p.setPen(QPen(theme().accent, 0));
    p.drawLines(traced);
}

void GraphCanvas::paintEdge(QPainter& p, const DrawnEdge& edge, const QRectF& exposed,
                            double lod) const
{
    const bool traced = isTraced(edge);
    const QColor color = traced ? theme().accent : edgeColor(edge);
    const auto points = m_drawing->pointsOf(edge);
    QPainterPath path;
    bool joined = false;
    // Stroke only the visible parts: the cost grows with the length of the line.
    for (std::size_t i = 1; i < points.size(); ++i) {
        const QRectF stretch = QRectF(points[i - 1], points[i]).normalized().adjusted(-4, -4, 4, 4);
        if (!stretch.intersects(exposed)) {
            joined = false;
            continue;
        }
        if (!joined)
            path.moveTo(points[i - 1]);
        addStretch(path, points[i - 1], points[i], m_drawing->flow);
        joined = true;
    }
    p.setPen(QPen(color, traced ? 2 : 1.4));
    p.setBrush(Qt::NoBrush);
    p.drawPath(path);
    if (!edge.arrow || lod < kTitleLod)
        return;
    const auto head = arrowHead(points.back(), kArrow, 7, m_drawing->flow);
    p.setPen(Qt::NoPen);
    p.setBrush(color);
    p.drawPolygon(head.data(), int(head.size()));
}

void GraphCanvas::paintNodesPlainly(QPainter& p, const std::vector<int>& nodes, double lod) const
{
    const bool smooth = kNodeHeight * lod >= kSmoothHeight;
    p.setRenderHint(QPainter::Antialiasing, smooth);
    QHash<QRgb, QVector<QRectF>> byColor;
    for (int index : nodes) {
        const bool styled = std::size_t(index) < m_style.nodes.size();
        const QRgb color = styled ? plainColor(m_style.nodes[std::size_t(index)], m_style.scale)
                                  : theme().faint.rgb();
        byColor[color] << seenAt(m_drawing->nodes[std::size_t(index)].rect, lod);
    }
    p.setPen(Qt::NoPen);
    for (auto it = byColor.cbegin(); it != byColor.cend(); ++it) {
        p.setBrush(QColor(it.key()));
        p.drawRects(it.value());
    }
}

QString GraphCanvas::referenceText(int node) const
{
    const auto references = m_drawing->referencesOf(node);
    if (references.empty())
        return {};
    QStringList names;
    for (std::size_t i = 0; i < std::min<std::size_t>(references.size(), 2); ++i)
        names << QString::fromStdString(m_drawing->graph->value(references[i].value).name);
    QString text = QStringLiteral("← %1").arg(names.join(QStringLiteral(", ")));
    if (references.size() > 2)
        text += QStringLiteral(" +%1").arg(references.size() - 2);
    return text;
}

QRectF GraphCanvas::referenceRect(int node) const
{
    const QRectF& rect = m_drawing->nodes[std::size_t(node)].rect;
    return {rect.left() + 8, rect.top() - 16, rect.width() / 2 - 20, 15};
}

void GraphCanvas::paintReferences(QPainter& p, int node) const
{
    const QString text = referenceText(node);
    if (text.isEmpty())
        return;
    const QRectF rect = referenceRect(node);
    p.setFont(sceneMonoFont(9.5));
    p.setPen(theme().accent);
    p.drawText(rect, Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetricsF(p.font()).elidedText(text, Qt::ElideRight, rect.width()));
}

} // namespace qs

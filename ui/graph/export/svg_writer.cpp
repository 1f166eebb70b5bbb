// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/export/svg_writer.h"

#include "ui/graph/view/graph_canvas.h"
#include "ui/graph/view/node_painter.h"
#include "ui/style/fitted_title.h"
#include "ui/style/theme.h"

#include <QFontMetricsF>
#include <QIODevice>
#include <QXmlStreamWriter>

namespace qs {

namespace {

QString number(double value)
{
    return QString::number(value, 'f', 1);
}

class SvgPainter
{
public:
    SvgPainter(const GraphCanvas& canvas, QIODevice& device)
        : m_canvas(canvas)
        , m_drawing(*canvas.drawing())
        , m_xml(&device)
    {
    }

    bool write()
    {
        const QRectF all = m_canvas.boundingRect();
        m_xml.writeStartDocument();
        m_xml.writeStartElement(QStringLiteral("svg"));
        m_xml.writeDefaultNamespace(QStringLiteral("http://www.w3.org/2000/svg"));
        m_xml.writeAttribute(QStringLiteral("width"), number(all.width()));
        m_xml.writeAttribute(QStringLiteral("height"), number(all.height()));
        m_xml.writeAttribute(
            QStringLiteral("viewBox"),
            QStringLiteral("%1 %2 %3 %4")
                .arg(number(all.x()), number(all.y()), number(all.width()), number(all.height())));
        rect(all, 0, theme().canvas, {});
        for (const auto& box : m_drawing.boxes)
            frame(box);
        for (const auto& edge : m_drawing.edges)
            line(edge);
        for (std::size_t i = 0; i < m_drawing.nodes.size(); ++i)
            node(int(i));
        m_xml.writeEndDocument();
        return !m_xml.hasError();
    }

private:
    void rect(const QRectF& r, double radius, const QColor& fill, const QColor& border)
    {
        m_xml.writeEmptyElement(QStringLiteral("rect"));
        m_xml.writeAttribute(QStringLiteral("x"), number(r.x()));
        m_xml.writeAttribute(QStringLiteral("y"), number(r.y()));
        m_xml.writeAttribute(QStringLiteral("width"), number(r.width()));
        m_xml.writeAttribute(QStringLiteral("height"), number(r.height()));
        if (radius > 0)
            m_xml.writeAttribute(QStringLiteral("rx"), number(radius));
        m_xml.writeAttribute(QStringLiteral("fill"), fill.name());
        if (border.isValid())
            m_xml.writeAttribute(QStringLiteral("stroke"), border.name());
    }

    void text(const QPointF& at, const QString& words, const QFont& font, const QColor& color,
              double room, const char* anchor = "start")
    {
        if (words.isEmpty())
            return;
        m_xml.writeStartElement(QStringLiteral("text"));
        m_xml.writeAttribute(QStringLiteral("x"), number(at.x()));
        m_xml.writeAttribute(QStringLiteral("y"), number(at.y()));
        m_xml.writeAttribute(QStringLiteral("fill"), color.name());
        m_xml.writeAttribute(QStringLiteral("font-family"),
                             font.families().join(QStringLiteral(", ")));
        m_xml.writeAttribute(QStringLiteral("font-size"), QString::number(font.pixelSize()));
        m_xml.writeAttribute(QStringLiteral("font-weight"), QString::number(font.weight()));
        m_xml.writeAttribute(QStringLiteral("text-anchor"), QString::fromLatin1(anchor));
        m_xml.writeCharacters(QFontMetricsF(font).elidedText(words, Qt::ElideRight, room));
        m_xml.writeEndElement();
    }

    void frame(const DrawnBox& box)
    {
        const auto& entry = m_drawing.tree->entry(box.entry);
        rect(box.rect, 10, frameFill(box.depth), theme().frameBorder);
        text(box.rect.topLeft() + QPointF(14, 21),
             QString::fromStdString(entry.path + "  " + entry.className), sceneFont(11.5, 600),
             theme().frameText, box.rect.width() - 28);
    }

    void line(const DrawnEdge& edge)
    {
        const auto points = m_drawing.pointsOf(edge);
        QString path = QStringLiteral("M%1 %2").arg(number(points[0].x()), number(points[0].y()));
        for (std::size_t i = 1; i < points.size(); ++i) {
            const QPointF a = points[i - 1], b = points[i];
            const bool down = m_drawing.flow == Flow::Down;
            const QString middle = number((down ? a.y() + b.y() : a.x() + b.x()) / 2);
            if (down)
                path += QStringLiteral("C%1 %3 %2 %3 %2 %4")
                            .arg(number(a.x()), number(b.x()), middle, number(b.y()));
            else
                path += QStringLiteral("C%3 %1 %3 %2 %4 %2")
                            .arg(number(a.y()), number(b.y()), middle, number(b.x()));
        }
        if (edge.arrow) {
            const auto head = arrowHead(points.back(), 4.5, 7, m_drawing.flow);
            path += QStringLiteral("M%1 %2L%3 %4L%5 %6")
                        .arg(number(head[1].x()), number(head[1].y()), number(head[0].x()),
                             number(head[0].y()), number(head[2].x()), number(head[2].y()));
        }
        m_xml.writeEmptyElement(QStringLiteral("path"));
        m_xml.writeAttribute(QStringLiteral("d"), path);
        m_xml.writeAttribute(QStringLiteral("fill"), QStringLiteral("none"));
        m_xml.writeAttribute(QStringLiteral("stroke"), edgeColor(edge).name());
        m_xml.writeAttribute(QStringLiteral("stroke-width"), QStringLiteral("1.4"));
        const EdgeLabel& label = m_canvas.labels()[std::size_t(&edge - m_drawing.edges.data())];
        if (!label.text.isEmpty())
            text(QPointF(label.rect.left(), label.rect.bottom() - 2), label.text,
                 sceneMonoFont(9.5), theme().muted, 400, "start");
    }

    void node(int index)
    {
        const QRectF& box = m_drawing.nodes[std::size_t(index)].rect;
        const auto& style = m_canvas.style();
        const NodeStyle& nodeStyle = style.nodes[std::size_t(index)];
        const NodeText words = style.text(index);
        m_xml.writeStartElement(QStringLiteral("g"));
        if (nodeStyle.behind)
            m_xml.writeAttribute(QStringLiteral("opacity"), QStringLiteral("0.28"));
        for (int sheet = nodeStyle.repeats ? 2 : 0; sheet >= 0; --sheet)
            rect(box.translated(3 * sheet, 3 * sheet), 6, nodeGround(nodeStyle),
                 theme().nodeBorder);
        rect(QRectF(box.topLeft(), QSizeF(5, box.height())), 2, QColor(nodeStyle.bar), {});
        const double room = box.width() - (words.badge.isEmpty() ? 24 : 74);
        const QFont font = sceneFont(12, 600);
        const QString title
            = nodeStyle.folded ? words.title : fittedTitle(QFontMetricsF(font), words.title, room);
        text(box.topLeft() + QPointF(14, 17), title, font, theme().text, room);
        text(box.topLeft() + QPointF(14, 32), words.detail, sceneMonoFont(10), theme().muted, room);
        text(box.topLeft() + QPointF(14, 46), words.inside, sceneMonoFont(9), theme().muted,
             box.width() - 24);
        if (!words.badge.isEmpty()) {
            const bool filled = nodeStyle.fill != 0 && (style.scale || !nodeStyle.isMeasured());
            const QColor fill = filled ? QColor(nodeStyle.fill) : theme().window;
            const QRectF badge(box.right() - 46, box.top() + 8, 38, 24);
            rect(badge, 4, fill, filled ? QColor() : theme().border);
            text(badge.center() + QPointF(0, 4), words.badge, sceneFont(10, 600),
                 filled ? textOn(fill) : theme().muted, 38, "middle");
        }
        text(box.topLeft() + QPointF(8, -4), m_canvas.referenceText(index), sceneMonoFont(9.5),
             theme().accent, box.width() / 2 - 20);
        m_xml.writeEndElement();
    }

    const GraphCanvas& m_canvas;
    const GraphDrawing& m_drawing;
    QXmlStreamWriter m_xml;
};

} // namespace

bool writeSvg(const GraphCanvas& canvas, QIODevice& device)
{
    return SvgPainter(canvas, device).write();
}

} // namespace qs

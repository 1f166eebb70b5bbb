// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/node_painter.h"

#include "ui/style/fitted_title.h"
#include "ui/style/theme.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace qs {

namespace {

constexpr double kBehind = 0.28; ///< opacity of dimmed nodes
constexpr double kTint = 0.2; ///< share of the rule's colour in the fill
constexpr double kRadius = 6;
constexpr double kBarWidth = 5;
constexpr double kBadgeWidth = 38;
/// Number of sheets below a box around blocks, which is drawn as a stack.
constexpr int kSheets = 2;
constexpr double kSheetOffset = 3;

/// Returns the width of a badge; narrower if it shows no figure.
double badgeWidth(double lod)
{
    return lod >= kTextLod ? kBadgeWidth : kBadgeWidth / 3;
}

QFont badgeFont(const NodeStyle& style)
{
    return sceneFont(style.isMeasured() ? 10.5 : 9.5, 600);
}

void paintBadge(QPainter& p, const NodeStyle& style, const QString& text, const QRectF& rect,
                bool scale, double lod)
{
    if (text.isEmpty())
        return;
    const Theme& t = theme();
    const double width = badgeWidth(lod);
    const QRectF badge(rect.right() - width - 8, rect.top() + 8, width, 24);
    const bool filled = style.fill != 0 && (scale || !style.isMeasured());
    const QColor fill = filled ? QColor(style.fill) : t.window;
    p.save();
    if (style.faded)
        p.setOpacity(0.4);
    p.setPen(filled ? QPen(Qt::NoPen) : QPen(t.border, 1));
    p.setBrush(fill);
    p.drawRoundedRect(badge, 4, 4);
    if (lod >= kTextLod) {
        p.setFont(badgeFont(style));
        p.setPen(filled ? textOn(fill) : style.isMeasured() ? t.text : t.muted);
        p.drawText(badge, Qt::AlignCenter, text);
    }
    p.restore();
}

QString nodeTitleIn(const QFont& font, const NodeStyle& style, const QString& title, double width)
{
    const QFontMetricsF metrics(font);
    return style.folded ? metrics.elidedText(title, Qt::ElideRight, width)
                        : fittedTitle(metrics, title, width);
}

/// Returns the font size of a name in scene units: readable on the screen if the node is high
/// enough.
double nameSize(const QRectF& rect, double lod)
{
    constexpr double kReadable = 9, kShareOfHeight = 0.6;
    return std::min(px(100) / 100.0 * kReadable / lod, rect.height() * kShareOfHeight);
}

/// Rectangles and fonts of a node's lines; a hidden line has a null rectangle.
struct NodeLines
{
    QRectF title, detail, inside;
    QFont titleFont, detailFont, insideFont;
};

NodeLines linesOf(const QRectF& rect, const NodeStyle& style, const NodeText& words, double lod)
{
    const double right = rect.right() - (words.badge.isEmpty() ? 10 : badgeWidth(lod) + 16)
        - (style.folded ? 18 : 0);
    const bool second = lod >= kTextLod && !words.detail.isEmpty();
    const bool third = lod >= kInsideLod && !words.inside.isEmpty();
    const double head = third || rect.height() < kTallNodeHeight
        ? 4
        : 4 + (rect.height() - kNodeHeight) / 2; // the third line is hidden: centre the others
    NodeLines lines {{},
                     {},
                     {},
                     sceneFont(second ? 12 : std::max(12.0, nameSize(rect, lod)), 600),
                     sceneMonoFont(10),
                     sceneMonoFont(9)};
    lines.title = {rect.left() + 14, rect.top() + (second ? head : 0), right - rect.left() - 14,
                   second ? 18 : rect.height()};
    QRectF next = lines.title;
    if (second) {
        next.translate(0, 16);
        lines.detail = next;
    }
    if (third) {
        next.translate(0, 14);
        next.setRight(rect.right() - 10);
        lines.inside = next;
    }
    return lines;
}

} // namespace

QColor mixedColor(const QColor& ink, const QColor& ground, double share)
{
    const auto mix = [share](int a, int b) { return int(a * share + b * (1 - share)); };
    return QColor(mix(ink.red(), ground.red()), mix(ink.green(), ground.green()),
                  mix(ink.blue(), ground.blue()));
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

QColor nodeGround(const NodeStyle& style)
{
    return style.painted ? mixedColor(QColor(style.bar), theme().node, kTint) : theme().node;
}

QRgb plainColor(const NodeStyle& style, bool scale)
{
    const QColor full(style.isMeasured() && scale && !style.painted ? style.fill : style.bar);
    if (!style.behind)
        return full.rgb();
    return mixedColor(full, theme().canvas, kBehind).rgb();
}

NodeText fittedText(const QRectF& rect, const NodeStyle& style, const NodeText& words, double lod)
{
    const NodeLines lines = linesOf(rect, style, words, lod);
    const auto elided = [](const QFont& font, const QString& text, double width) {
        return QFontMetricsF(font).elidedText(text, Qt::ElideRight, width);
    };
    return {nodeTitleIn(lines.titleFont, style, words.title, lines.title.width()),
            elided(lines.detailFont, words.detail, lines.detail.width()),
            elided(lines.insideFont, words.inside, lines.inside.width()),
            elided(badgeFont(style), words.badge, badgeWidth(kTextLod) - 2)};
}

void paintNode(QPainter& p, const QRectF& rect, const NodeStyle& style, const NodeText& words,
               bool scale, double lod)
{
    const Theme& t = theme();
    p.setOpacity(style.behind ? kBehind : 1);
    p.setPen(QPen(t.nodeBorder, 1));
    p.setBrush(nodeGround(style));
    for (int sheet = style.repeats ? kSheets : 0; sheet >= 0; --sheet) {
        const double by = sheet * kSheetOffset;
        p.drawRoundedRect(rect.translated(by, by), kRadius, kRadius);
    }
    p.setPen(Qt::NoPen);
    p.setBrush(QColor(style.bar));
    p.drawRoundedRect(QRectF(rect.left(), rect.top(), kBarWidth, rect.height()), 2, 2);

    const NodeLines lines = linesOf(rect, style, words, lod);
    const auto draw
        = [&p](const QRectF& line, const QFont& font, const QColor& ink, const QString& text) {
              if (line.isNull())
                  return;
              p.setFont(font);
              p.setPen(ink);
              p.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, text);
          };
    draw(lines.title, lines.titleFont, t.text, words.title);
    draw(lines.detail, lines.detailFont, t.muted, words.detail);
    draw(lines.inside, lines.insideFont, t.muted, words.inside);
    if (style.folded)
        paintFoldMark(p, QPointF(lines.title.right() + 9, rect.top() + 20), true);
    paintBadge(p, style, words.badge, rect, scale, lod);
    p.setOpacity(1);
}

void paintNamed(QPainter& p, const QRectF& rect, const NodeStyle& style, const QString& name,
                bool scale, double lod)
{
    const QColor fill(plainColor(style, scale));
    p.setPen(Qt::NoPen);
    p.setBrush(fill);
    p.drawRoundedRect(rect, kRadius, kRadius);
    const QFont font = sceneFont(nameSize(rect, lod), 600);
    const QRectF line = rect.adjusted(kBarWidth, 0, -kBarWidth, 0);
    p.setFont(font);
    p.setPen(textOn(fill));
    p.drawText(line, Qt::AlignCenter, nodeTitleIn(font, style, name, line.width()));
}

} // namespace qs

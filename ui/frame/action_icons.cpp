// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/action_icons.h"

#include "ui/style/theme.h"

#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

namespace qs {

namespace {

constexpr int kSide = 16, kDensity = 2;

/// Returns an icon that `draw` paints on a square of 16 units.
template<class Draw>
QIcon drawnIcon(Draw draw)
{
    QPixmap picture(kSide * kDensity, kSide * kDensity);
    picture.setDevicePixelRatio(kDensity);
    picture.fill(Qt::transparent);
    QPainter p(&picture);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(theme().muted, 1.3));
    draw(p);
    p.end();
    return QIcon(picture);
}

} // namespace

QIcon floatRuleIcon()
{
    return drawnIcon([](QPainter& p) {
        p.drawRoundedRect(QRectF(1.5, 3, 13, 10), 3, 3);
        p.setFont(sceneFont(9, 600));
        p.drawText(QRectF(1.5, 3, 13, 10), Qt::AlignCenter, QStringLiteral("f"));
    });
}

QIcon leafIcon()
{
    return drawnIcon([](QPainter& p) {
        QPainterPath leaf(QPointF(2.5, 13.5));
        leaf.cubicTo(2, 5, 7, 2, 14, 2);
        leaf.cubicTo(14, 9, 11, 14, 2.5, 13.5);
        p.drawPath(leaf);
        p.drawLine(QPointF(2.5, 13.5), QPointF(9, 7));
    });
}

QIcon wrapIcon()
{
    return drawnIcon([](QPainter& p) {
        p.drawRoundedRect(QRectF(1.5, 2.5, 13, 11), 2.5, 2.5);
        p.setBrush(theme().muted);
        p.drawEllipse(QPointF(8, 8), 2, 2);
    });
}

} // namespace qs

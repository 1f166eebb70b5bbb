// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/style/legend.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kLegendRow = 24, kLegendGap = 14, kSwatch = 10;
constexpr int kScaleCells = 14, kScaleWidth = 160, kWordGap = 8;

QFont wordFont()
{
    return uiFont(11);
}

} // namespace

Legend::Legend(QWidget* parent)
    : QWidget(parent)
{
    setNames(*this, "legend", tr("What the colours of the graph mean"));
}

void Legend::setStyle(const GraphStyle& style)
{
    m_scale = style.scale;
    m_items.clear();
    if (!style.title.isEmpty())
        m_items.push_back({Item::Kind::Title, {QColor(), style.title}, {}});
    if (m_scale)
        m_items.push_back({Item::Kind::Scale, {}, {}});
    else
        for (const auto& entry : style.legend)
            m_items.push_back({Item::Kind::Entry, entry, {}});
    for (const auto& entry : style.ruleLegend)
        m_items.push_back({Item::Kind::Entry, entry, {}});
    m_ramp = style.ramp;
    m_by = style.by;
    m_full = style.full;
    m_range = style.range;
    setAttribute(Qt::WA_TransparentForMouseEvents, !m_scale);
    setFocusPolicy(m_scale ? Qt::StrongFocus : Qt::NoFocus);
    setToolTip(m_scale
                   ? tr("Drag a handle to look at a part of the scale; double click for all of it")
                   : QString());
    resizeToContents();
    setVisible(!m_items.empty());
    update();
}

void Legend::setRoom(int width)
{
    m_room = width;
    resizeToContents();
}

int Legend::widthOf(const Item& item) const
{
    const QFontMetrics metrics(wordFont());
    switch (item.kind) {
    case Item::Kind::Title:
        return QFontMetrics(uiFont(11, 600)).horizontalAdvance(item.entry.text) + 2;
    case Item::Kind::Scale: {
        // Texts of the full scale, so that nothing moves while a handle is dragged. Both sides get
        // the width of the longer text, which keeps the scale in the middle.
        const auto [good, bad] = scaleEnds(m_by, m_full.best, m_full.worst);
        return px(kScaleWidth) + 2 * kWordGap
            + 2 * std::max(metrics.horizontalAdvance(good), metrics.horizontalAdvance(bad));
    }
    case Item::Kind::Entry:
        break;
    }
    return px(kSwatch) + 6 + metrics.horizontalAdvance(item.entry.text) + 2;
}

bool Legend::fitsOneRow() const
{
    int width = -kLegendGap;
    for (const auto& item : m_items)
        width += widthOf(item) + kLegendGap;
    return width <= m_room;
}

void Legend::resizeToContents()
{
    int x = 0, y = 0, widest = 0;
    const bool oneRow = fitsOneRow();
    for (auto& item : m_items) {
        if (item.kind == Item::Kind::Title && m_scale && !oneRow) {
            item.rect = {}; // it would need another row; the colour box shows the same
            continue;
        }
        const int width = std::min(widthOf(item), m_room);
        if (x > 0 && x + width > m_room) {
            x = 0;
            y += px(kLegendRow);
        }
        item.rect = {x, y, width, px(kLegendRow)};
        x += width + kLegendGap;
        widest = std::max(widest, item.rect.right() + 1);
    }
    setFixedSize(widest, m_items.empty() ? 0 : y + px(kLegendRow));
}

QRectF Legend::bar() const
{
    for (const auto& item : m_items)
        if (item.kind == Item::Kind::Scale) {
            const double width = std::min(px(kScaleWidth), item.rect.width() / 2);
            return QRectF(item.rect.center().x() + 1 - width / 2, item.rect.top() + px(6), width,
                          px(8));
        }
    return {};
}

double Legend::measureAt(double share) const
{
    return m_full.best + (m_full.worst - m_full.best) * share;
}

QPointF Legend::handleAt(bool worst) const
{
    const double share = m_full.badness(worst ? m_range.worst : m_range.best);
    return {bar().left() + bar().width() * std::clamp(share, 0.0, 1.0), bar().bottom() + 3};
}

void Legend::moveHandle(double share)
{
    constexpr double kNarrowest = 0.03;
    const double other = m_full.badness(m_worstInUse ? m_range.best : m_range.worst);
    share = m_worstInUse ? std::clamp(share, other + kNarrowest, 1.0)
                         : std::clamp(share, 0.0, other - kNarrowest);
    (m_worstInUse ? m_range.worst : m_range.best) = measureAt(share);
    update();
    Q_EMIT rangeChosen(m_range, m_range == m_full);
}

void Legend::giveBack()
{
    m_range = m_full;
    update();
    Q_EMIT rangeChosen(m_range, true);
}

void Legend::mousePressEvent(QMouseEvent* event)
{
    const double x = event->position().x();
    m_worstInUse = std::abs(handleAt(true).x() - x) < std::abs(handleAt(false).x() - x);
    update();
}

void Legend::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() & Qt::LeftButton)
        moveHandle((event->position().x() - bar().left()) / bar().width());
}

void Legend::mouseDoubleClickEvent(QMouseEvent*)
{
    giveBack();
}

void Legend::keyPressEvent(QKeyEvent* event)
{
    const double at = m_full.badness(m_worstInUse ? m_range.worst : m_range.best);
    if (event->key() == Qt::Key_Left)
        moveHandle(at - 0.05);
    else if (event->key() == Qt::Key_Right)
        moveHandle(at + 0.05);
    else if (event->key() == Qt::Key_Home)
        giveBack();
    else
        QWidget::keyPressEvent(event);
}

bool Legend::focusNextPrevChild(bool next)
{
    // Tab goes from the left handle to the right one before it leaves the widget.
    if (m_scale && hasFocus() && m_worstInUse != next) {
        m_worstInUse = next;
        update();
        return true;
    }
    return QWidget::focusNextPrevChild(next);
}

void Legend::paintScale(QPainter& p, const QRect& room)
{
    const QRectF strip = bar();
    p.setPen(Qt::NoPen);
    for (int i = 0; i < kScaleCells; ++i) {
        const double badness = m_range.badness(measureAt((i + 0.5) / kScaleCells));
        p.setOpacity(badness < 0 || badness > 1 ? 0.25 : 1);
        p.setBrush(rampColour(m_ramp, badness));
        p.drawRect(QRectF(strip.left() + strip.width() * i / kScaleCells, strip.top(),
                          strip.width() / kScaleCells + 0.5, strip.height()));
    }
    p.setOpacity(1);
    for (const bool worst : {false, true}) {
        const QPointF at = handleAt(worst);
        const QPointF handle[] = {at + QPointF(0, -4), at + QPointF(-4, 3), at + QPointF(4, 3)};
        p.setBrush(hasFocus() && worst == m_worstInUse ? theme().accent : theme().muted);
        p.drawPolygon(handle, 3);
    }
    p.setPen(theme().muted);
    p.setFont(wordFont());
    const auto [good, bad] = scaleEnds(m_by, m_range.best, m_range.worst);
    const QFontMetrics metrics(p.font());
    QRect left = room, right = room;
    left.setRight(int(strip.left()) - kWordGap);
    right.setLeft(int(strip.right()) + kWordGap);
    p.drawText(left, Qt::AlignRight | Qt::AlignVCenter,
               metrics.elidedText(good, Qt::ElideRight, left.width()));
    p.drawText(right, Qt::AlignLeft | Qt::AlignVCenter,
               metrics.elidedText(bad, Qt::ElideRight, right.width()));
}

void Legend::paintItem(QPainter& p, const Item& item)
{
    if (item.kind == Item::Kind::Scale) {
        paintScale(p, item.rect);
        return;
    }
    QRect room = item.rect;
    p.setFont(item.kind == Item::Kind::Title ? uiFont(11, 600) : wordFont());
    if (item.kind == Item::Kind::Entry) {
        const QColor& color = item.entry.color;
        p.setPen(color.isValid() ? QPen(Qt::NoPen) : QPen(theme().muted, 1));
        p.setBrush(color.isValid() ? QBrush(color) : QBrush(Qt::NoBrush));
        const int side = px(kSwatch);
        p.drawRoundedRect(QRectF(room.left(), room.center().y() - side / 2.0 + 1, side, side), 2,
                          2);
        room.setLeft(room.left() + side + 6);
    }
    p.setPen(theme().text);
    p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
               QFontMetricsF(p.font()).elidedText(item.entry.text, Qt::ElideRight, room.width()));
}

void Legend::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    for (const auto& item : m_items)
        if (!item.rect.isEmpty())
            paintItem(p, item);
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/legend.h"

#include "ui/shell/theme.h"

#include <QFontMetricsF>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kLegendRow = 18;
constexpr int kScaleCells = 14;

} // namespace

Legend::Legend(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("legend"));
    setAccessibleName(QStringLiteral("What the colours of the graph mean"));
}

void Legend::setStyle(const GraphStyle& style)
{
    m_entries = style.legend;
    m_scale = style.scale;
    m_by = style.by;
    m_full = style.full;
    m_range = style.range;
    setAttribute(Qt::WA_TransparentForMouseEvents, !m_scale);
    setFocusPolicy(m_scale ? Qt::StrongFocus : Qt::NoFocus);
    setToolTip(m_scale
                   ? QStringLiteral("Drag a handle to look at a part of the scale; double click "
                                    "for all of it")
                   : QString());
    if (m_scale) {
        resizeToScale();
    } else {
        const QFontMetricsF metrics(uiFont(11));
        double widest = 0;
        for (const auto& entry : m_entries)
            widest = std::max(widest, metrics.horizontalAdvance(entry.text));
        setFixedSize(int(widest) + 44, int(m_entries.size()) * kLegendRow + 12);
    }
    setVisible(m_scale || !m_entries.empty());
    update();
}

void Legend::setRoom(int width)
{
    m_room = width;
    if (m_scale)
        resizeToScale();
}

void Legend::resizeToScale()
{
    setFixedSize(std::clamp(m_room * 22 / 100, 150, 238), 46);
}

QRectF Legend::bar() const
{
    return {14, 9, double(width()) - 28, 9};
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
    // From the left handle to the right one, and only then on.
    if (m_scale && hasFocus() && m_worstInUse != next) {
        m_worstInUse = next;
        update();
        return true;
    }
    return QWidget::focusNextPrevChild(next);
}

void Legend::paintScale(QPainter& p)
{
    const QRectF strip = bar();
    p.setPen(Qt::NoPen);
    for (int i = 0; i < kScaleCells; ++i) {
        const double badness = m_range.badness(measureAt((i + 0.5) / kScaleCells));
        p.setOpacity(badness < 0 || badness > 1 ? 0.25 : 1);
        p.setBrush(cividis(badness));
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
    const QRectF words(12, 25, width() - 24, 16);
    const QString unit = m_by == ColourBy::Memory ? QString() : QStringLiteral(" dB");
    const bool memory = m_by == ColourBy::Memory;
    p.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
               (memory ? QStringLiteral("small ") : QStringLiteral("good "))
                   + measureText(m_by, m_range.best) + unit);
    p.drawText(words, Qt::AlignRight | Qt::AlignVCenter,
               (memory ? QStringLiteral("large ") : QStringLiteral("worst "))
                   + measureText(m_by, m_range.worst) + unit);
}

void Legend::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(theme().border);
    p.setBrush(theme().panel);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    p.setFont(uiFont(m_scale ? 10 : 11));
    if (m_scale) {
        paintScale(p);
        return;
    }
    int y = 6;
    for (const auto& entry : m_entries) {
        p.setPen(Qt::NoPen);
        p.setBrush(entry.color);
        p.drawRoundedRect(QRectF(12, y + 4, 10, 10), 2, 2);
        p.setPen(theme().text);
        p.drawText(QRectF(30, y, width() - 36, kLegendRow), Qt::AlignLeft | Qt::AlignVCenter,
                   entry.text);
        y += kLegendRow;
    }
}

} // namespace qs

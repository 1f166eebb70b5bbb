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
constexpr int kScaleHeight = 46;

} // namespace

Legend::Legend(QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("legend"));
    setAccessibleName(QStringLiteral("What the colours of the graph mean"));
}

void Legend::setStyle(const GraphStyle& style)
{
    m_scale = style.scale;
    m_entries = m_scale ? std::vector<LegendEntry>() : style.legend;
    m_rules = style.ruleLegend;
    m_title = style.title;
    m_ramp = style.ramp;
    m_by = style.by;
    m_full = style.full;
    m_range = style.range;
    setAttribute(Qt::WA_TransparentForMouseEvents, !m_scale);
    setFocusPolicy(m_scale ? Qt::StrongFocus : Qt::NoFocus);
    setToolTip(m_scale
                   ? QStringLiteral("Drag a handle to look at a part of the scale; double click "
                                    "for all of it")
                   : QString());
    resizeToContents();
    setVisible(m_scale || !m_title.isEmpty() || !m_entries.empty() || !m_rules.empty());
    update();
}

void Legend::setRoom(int width)
{
    m_room = width;
    resizeToContents();
}

void Legend::resizeToContents()
{
    const QFontMetricsF metrics(uiFont(11));
    const int scaleWidth = std::clamp(m_room * 22 / 100, 150, 238);
    double widest = 0;
    for (const auto* entries : {&m_entries, &m_rules})
        for (const auto& entry : *entries)
            widest = std::max(widest, metrics.horizontalAdvance(entry.text));
    if (!m_title.isEmpty())
        widest = std::max(widest, metrics.horizontalAdvance(m_title) - 18);
    const int words = std::min(int(widest) + 44, std::max(scaleWidth, m_room * 2 / 5));
    const int rows = int(m_entries.size() + m_rules.size());
    setFixedSize(m_scale ? std::max(scaleWidth, rows > 0 ? words : 0) : words,
                 titleHeight() + (m_scale ? kScaleHeight : 12) + rows * kLegendRow
                     + (m_scale && rows > 0 ? 4 : 0));
}

int Legend::titleHeight() const
{
    return m_title.isEmpty() ? 0 : kLegendRow;
}

QRectF Legend::bar() const
{
    return {14, 9.0 + titleHeight(), double(width()) - 28, 9};
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
    const QRectF words(12, strip.bottom() + 7, width() - 24, 16);
    const auto [good, bad] = scaleEnds(m_by, m_range.best, m_range.worst);
    p.drawText(words, Qt::AlignLeft | Qt::AlignVCenter, good);
    p.drawText(words, Qt::AlignRight | Qt::AlignVCenter, bad);
}

void Legend::paintEntries(QPainter& p, const std::vector<LegendEntry>& entries, int y)
{
    p.setFont(uiFont(11));
    for (const auto& entry : entries) {
        p.setPen(entry.color.isValid() ? QPen(Qt::NoPen) : QPen(theme().muted, 1));
        p.setBrush(entry.color.isValid() ? QBrush(entry.color) : QBrush(Qt::NoBrush));
        p.drawRoundedRect(QRectF(12, y + 4, 10, 10), 2, 2);
        p.setPen(theme().text);
        const QRectF room(30, y, width() - 38, kLegendRow);
        p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(p.font()).elidedText(entry.text, Qt::ElideRight, room.width()));
        y += kLegendRow;
    }
}

void Legend::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(theme().border);
    p.setBrush(theme().panel);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    if (!m_title.isEmpty()) {
        p.setFont(uiFont(11, 600));
        p.setPen(theme().text);
        const QRectF room(12, 5, width() - 24, kLegendRow);
        p.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(p.font()).elidedText(m_title, Qt::ElideRight, room.width()));
    }
    int y = 6 + titleHeight();
    if (m_scale) {
        p.setFont(uiFont(10));
        paintScale(p);
        y = titleHeight() + kScaleHeight;
    }
    paintEntries(p, m_entries, y);
    paintEntries(p, m_rules, y + int(m_entries.size()) * kLegendRow);
}

} // namespace qs

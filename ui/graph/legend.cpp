// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/legend.h"

#include "ui/shell/theme.h"

#include <QFontMetricsF>
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
    setAttribute(Qt::WA_TransparentForMouseEvents);
}

void Legend::setStyle(const GraphStyle& style)
{
    m_entries = style.legend;
    m_scale = style.scale;
    m_best = style.best;
    m_worst = style.worst;
    if (m_scale) {
        setFixedSize(std::clamp(m_room * 22 / 100, 150, 238), 40);
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
        setFixedSize(std::clamp(m_room * 22 / 100, 150, 238), 40);
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
        const QRectF bar(12, 9, width() - 24, 9);
        p.setPen(Qt::NoPen);
        for (int i = 0; i < kScaleCells; ++i) {
            p.setBrush(cividis(double(i) / (kScaleCells - 1)));
            p.drawRect(QRectF(bar.left() + bar.width() * i / kScaleCells, bar.top(),
                              bar.width() / kScaleCells + 0.5, bar.height()));
        }
        p.setPen(theme().muted);
        const QRectF words(12, 20, width() - 24, 16);
        p.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                   QStringLiteral("good %1 dB").arg(std::lround(m_best)));
        p.drawText(words, Qt::AlignRight | Qt::AlignVCenter,
                   QStringLiteral("worst %1 dB").arg(std::lround(m_worst)));
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

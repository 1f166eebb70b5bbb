// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/box_plot.h"

#include "ui/plots/custom_plot.h"
#include "ui/style/theme.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

constexpr double kLeastBox = 6; ///< pixels, at normal size of text
constexpr double kBoxShare = 0.68; ///< of a channel's width

std::array<double, 5> heightsOf(const Quantiles& one)
{
    return {one.p1, one.q1, one.median, one.q3, one.p99};
}

} // namespace

BoxPlot::BoxPlot(QCustomPlot& plot)
    : m_plot(plot)
{
    const Theme& t = theme();
    // Below the boxes: a median at an end of the range stays visible.
    for (auto& line : m_held) {
        line = new QCPItemLine(&m_plot);
        line->setPen(QPen(t.danger, 1.5, Qt::DashLine));
        for (auto* position : {line->start, line->end})
            position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    }
    m_boxes = new QCPStatisticalBox(plot.xAxis, plot.yAxis);
    QColor soft = t.histogram;
    soft.setAlphaF(0.45f);
    m_boxes->setWidth(kBoxShare);
    m_boxes->setWhiskerWidth(kBoxShare * 0.5);
    m_boxes->setPen(QPen(t.histogram, 1));
    m_boxes->setBrush(soft);
    m_boxes->setWhiskerPen(QPen(t.muted, 1, Qt::SolidLine, Qt::FlatCap));
    m_boxes->setWhiskerBarPen(QPen(t.muted, 1));
    m_boxes->setMedianPen(QPen(t.text, 2, Qt::SolidLine, Qt::FlatCap));
    m_boxes->setAntialiased(false);
    for (auto& band : m_bands) {
        band = m_plot.addGraph();
        band->setPen(Qt::NoPen);
        band->setAntialiased(true);
    }
    QColor faint = t.histogram;
    faint.setAlphaF(0.22f);
    m_bands[4]->setBrush(faint);
    m_bands[4]->setChannelFillGraph(m_bands[0]);
    m_bands[3]->setBrush(soft);
    m_bands[3]->setChannelFillGraph(m_bands[1]);
    m_bands[2]->setPen(QPen(t.text, 1.5));
    hide();
}

void BoxPlot::show(const std::vector<std::optional<Quantiles>>& channels,
                   const std::optional<ValueEnds>& held)
{
    QVector<double> keys, heights[5];
    double low = held ? held->low : 0, high = held ? held->high : 0;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        if (!channels[c])
            continue;
        keys << double(c);
        const auto of = heightsOf(*channels[c]);
        for (std::size_t i = 0; i < of.size(); ++i)
            heights[i] << of[i];
        low = std::min(low, of.front());
        high = std::max(high, of.back());
    }
    m_boxes->setData(keys, heights[0], heights[1], heights[2], heights[3], heights[4], true);
    for (std::size_t i = 0; i < std::size(m_bands); ++i)
        m_bands[i]->setData(keys, heights[i], true);
    m_channels = channels.size();
    m_isShown = true;
    m_plot.xAxis->setRange(-0.7, double(m_channels) - 0.3);
    const double margin = (high - low) * 0.06 + 1e-12;
    m_plot.yAxis->setRange(low - margin, high + margin);
    setLines(held);
    fit();
}

void BoxPlot::setLines(const std::optional<ValueEnds>& held)
{
    for (const int side : {0, 1}) {
        m_held[side]->setVisible(held.has_value());
        if (!held)
            continue;
        const double at = side == 0 ? held->low : held->high;
        m_held[side]->start->setCoords(0, at);
        m_held[side]->end->setCoords(1, at);
    }
}

void BoxPlot::hide()
{
    m_isShown = false;
    m_boxes->setVisible(false);
    for (QCPGraph* band : m_bands)
        band->setVisible(false);
    setLines({});
}

void BoxPlot::fit()
{
    if (!m_isShown)
        return;
    const double width = m_channels > 0 ? m_plot.axisRect()->width() / double(m_channels) : 0;
    const bool asBoxes = width * kBoxShare >= px(kLeastBox) || m_channels == 1;
    m_boxes->setVisible(asBoxes);
    for (QCPGraph* band : m_bands)
        band->setVisible(!asBoxes);
}

bool BoxPlot::drawsBoxes() const
{
    return m_isShown && m_boxes->visible();
}

} // namespace qs

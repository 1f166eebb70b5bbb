// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/channel_plot.h"

#include "ui/graph/style/graph_style.h"
#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/workspace.h"
#include "ui/style/choice_bar.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/values/uncured_weights.h"
#include "ui/values/value_inspections.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

ChannelPlot::ChannelPlot(Workspace& workspace, QWidget* parent)
    : PlotPage(workspace, QStringLiteral("channelPlot"), parent)
    , m_mode(new ChoiceBar(QStringLiteral("channelsMode"), tr("What to show of each channel"),
                           {{tr("Range"), tr("The range of each channel of the weight")},
                            {tr("Box"), tr("Quartiles of the output's values in each channel")}},
                           this))
    , m_uncured(new UncuredWeights(workspace, this))
    , m_boxes(*m_plot)
    , m_inspections(new ValueInspections(workspace, QStringLiteral("channels"),
                                         ValueInspections::Wanted::Inspection, this))
{
    setCorner(*m_mode);
    m_plot->xAxis->setLabel(tr("output channel"));
    m_plot->xAxis->setLabelFont(uiFont(10));
    m_plot->xAxis->setLabelColor(theme().muted);
    auto ticker = QSharedPointer<QCPAxisTickerFixed>::create(); // whole channels
    ticker->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    m_plot->xAxis->setTicker(ticker);
    m_max = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    m_min = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    for (auto* bars : {m_max, m_min}) {
        bars->setPen(Qt::NoPen);
        bars->setBrush(theme().histogram);
    }
    m_maxBefore = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    m_minBefore = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    for (auto* bars : {m_maxBefore, m_minBefore}) {
        bars->setPen(QPen(theme().text, 1));
        bars->setBrush(Qt::NoBrush);
        bars->setWidth(0.8);
    }
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.selection(), &Selection::changed, this, later);
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(m_inspections, &ValueInspections::changed, this, later);
    connect(m_uncured, &UncuredWeights::arrived, this, later);
    connect(m_mode, &ChoiceBar::picked, this, [this](int mode) { setMode(Mode(mode)); });
    refresh();
}

void ChannelPlot::setMode(Mode mode)
{
    m_mode->setChosen(mode);
    refresh();
    watch();
}

void ChannelPlot::refresh()
{
    if (m_mode->chosen() == Boxes)
        refreshBoxes();
    else
        refreshRanges();
}

void ChannelPlot::showNone(const QString& caption, const QString& why)
{
    m_channels = 0;
    m_boxes.hide();
    for (QCPBars* bars : {m_max, m_min, m_maxBefore, m_minBefore})
        bars->setVisible(false);
    m_outlined = 0;
    showAxes(false);
    m_caption->setText(caption);
    m_empty->setText(why);
    setAccessibleDescription(why);
    replot();
}

void ChannelPlot::refreshRanges()
{
    m_boxes.hide();
    const auto& facts = m_workspace.facts();
    const NodeId node = m_workspace.selection().current();
    const auto observer = facts.weightObserver(node);
    const auto* stats = facts.stats(observer);
    QVector<double> x, low, high;
    if (stats) {
        for (std::size_t c = 0; c < std::min(stats->channelMin.size(), stats->channelMax.size());
             ++c) {
            x << double(c);
            low << std::min(0.0, double(stats->channelMin[c]));
            high << std::max(0.0, double(stats->channelMax[c]));
        }
        if (x.isEmpty() && stats->everRan()) {
            x << 0;
            low << std::min(0.0, double(stats->min));
            high << std::max(0.0, double(stats->max));
        }
    }
    const auto* planned = facts.observer(observer);
    m_plot->xAxis->setLabel(planned && planned->spec.groupSize > 0 ? tr("group, by output channel")
                                                                   : tr("output channel"));
    m_channels = int(x.size());
    if (m_channels == 0)
        return showNone(tr("Weight ranges"),
                        m_workspace.document().calibration()
                            ? tr("Select a node with a quantized weight")
                            : tr("Calibrate to see the weight ranges"));
    m_max->setVisible(true);
    m_min->setVisible(true);
    showAxes(true);
    const auto lowest = *std::min_element(low.begin(), low.end());
    const auto highest = *std::max_element(high.begin(), high.end());
    const double widest = std::max(highest, -lowest);
    double narrowest = widest;
    for (int c = 0; c < m_channels; ++c)
        narrowest = std::min(narrowest, std::max(high[c], -low[c]));
    QString caption = tr("%1 weight · range of each of %2 channels · widest %3, narrowest %4")
                          .arg(facts.title(node))
                          .arg(m_channels)
                          .arg(scaleText(widest), scaleText(narrowest));
    const double before = showBefore(node);
    if (m_outlined > 0)
        caption += tr(" · outlined: before the cures, widest %1").arg(scaleText(before));
    m_caption->setText(caption);
    m_max->setData(x, high, true);
    m_min->setData(x, low, true);
    m_max->setWidth(0.8);
    m_min->setWidth(0.8);
    m_plot->xAxis->setRange(-0.7, m_channels - 0.3);
    const double top = std::max(highest, m_outlined > 0 && highest > 0 ? before : highest);
    const double foot = std::min(lowest, m_outlined > 0 && lowest < 0 ? -before : lowest);
    const double margin = (top - foot) * 0.06 + 1e-12;
    m_plot->yAxis->setRange(foot - margin, top + margin);
    replot();
}

double ChannelPlot::showBefore(NodeId node)
{
    const auto& facts = m_workspace.facts();
    const auto* observer = facts.observer(facts.weightObserver(node));
    const Node* owner = observer ? facts.model()->tryGet(observer->weightOwner) : nullptr;
    const WeightRanges* before = owner && isVisible() ? m_uncured->ask(owner->name) : nullptr;
    QVector<double> x, low, high;
    double widest = 0;
    for (std::size_t c = 0; before && c < before->low.size(); ++c) {
        x << double(c);
        low << std::min(0.0, double(before->low[c]));
        high << std::max(0.0, double(before->high[c]));
        widest = std::max({widest, high.back(), -low.back()});
    }
    m_maxBefore->setData(x, high, true);
    m_minBefore->setData(x, low, true);
    m_outlined = int(x.size());
    for (QCPBars* bars : {m_maxBefore, m_minBefore})
        bars->setVisible(m_outlined > 0);
    return widest;
}

} // namespace qs

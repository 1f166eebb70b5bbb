// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/channel_plot.h"

#include "ui/graph/style/graph_style.h"
#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

ChannelPlot::ChannelPlot(Workspace& workspace, QWidget* parent)
    : PlotPage(workspace, QStringLiteral("channelPlot"), parent)
{
    m_plot->xAxis->setLabel(tr("output channel"));
    m_plot->xAxis->setLabelFont(uiFont(10));
    m_plot->xAxis->setLabelColor(theme().muted);
    m_max = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    m_min = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    for (auto* bars : {m_max, m_min}) {
        bars->setPen(Qt::NoPen);
        bars->setBrush(theme().histogram);
    }
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.selection(), &Selection::changed, this, later);
    connect(&workspace, &Workspace::factsChanged, this, later);
    refresh();
}

void ChannelPlot::refresh()
{
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
    const bool any = m_channels > 0;
    m_max->setVisible(any);
    m_min->setVisible(any);
    showAxes(any);
    if (!any) {
        m_caption->setText(tr("Weight ranges"));
        m_empty->setText(m_workspace.document().calibration()
                             ? tr("Select a node with a quantized weight")
                             : tr("Calibrate to see the weight ranges"));
        replot();
        return;
    }
    const auto lowest = *std::min_element(low.begin(), low.end());
    const auto highest = *std::max_element(high.begin(), high.end());
    const double widest = std::max(highest, -lowest);
    double narrowest = widest;
    for (int c = 0; c < m_channels; ++c)
        narrowest = std::min(narrowest, std::max(high[c], -low[c]));
    m_caption->setText(tr("%1 weight · range of each of %2 channels · widest %3, narrowest %4")
                           .arg(facts.title(node))
                           .arg(m_channels)
                           .arg(scaleText(widest), scaleText(narrowest)));
    m_max->setData(x, high, true);
    m_min->setData(x, low, true);
    m_max->setWidth(0.8);
    m_min->setWidth(0.8);
    m_plot->xAxis->setRange(-0.7, m_channels - 0.3);
    const double margin = (highest - lowest) * 0.06 + 1e-12;
    m_plot->yAxis->setRange(lowest - margin, highest + margin);
    replot();
}

} // namespace qs

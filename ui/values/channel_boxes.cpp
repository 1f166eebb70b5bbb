// SPDX-License-Identifier: GPL-3.0-or-later
// ChannelPlot: the values of the output by channel, as boxes.
#include "ui/graph/style/graph_style.h"
#include "ui/plots/custom_plot.h"
#include "ui/session/workspace.h"
#include "ui/style/choice_bar.h"
#include "ui/style/property_cards.h"
#include "ui/values/channel_plot.h"
#include "ui/values/value_inspections.h"

#include <algorithm>

namespace qs {

namespace {

/// The quantiles of the channels of the node's first result.
std::vector<std::optional<Quantiles>> firstResult(const ValueInspection& inspection)
{
    std::vector<std::optional<Quantiles>> channels;
    for (const ChannelError& one : inspection.channels)
        if (one.result == 0)
            channels.push_back(one.quantiles);
    return channels;
}

double greatestError(const std::vector<std::optional<Quantiles>>& channels)
{
    double error = 0;
    for (const auto& one : channels)
        error = std::max(error, one ? one->error : 0);
    return error;
}

} // namespace

void ChannelPlot::refreshBoxes()
{
    const auto& facts = m_workspace.facts();
    const GraphPtr& model = m_workspace.document().model();
    const NodeId node = m_workspace.selection().current();
    std::optional<InspectionTarget> target;
    if (model && model->tryGet(node))
        target = InspectionTarget {facts.last(node), {}};
    m_inspections->setTarget(target);
    for (QCPBars* bars : {m_max, m_min, m_maxBefore, m_minBefore})
        bars->setVisible(false);
    m_outlined = 0;
    const ValueInspectionPtr& found = m_inspections->inspection();
    if (!found)
        return showNone(tr("Values by channel"), m_inspections->note());
    const auto channels = firstResult(*found);
    const auto* params = facts.qparams(facts.outputObserver(node));
    const bool isWhole = params && params->scale.size() == 1 && params->zeroPoint.size() == 1;
    const auto held = isWhole ? std::optional(heldEnds(*params)) : std::nullopt;
    m_channels = int(channels.size());
    m_boxes.show(channels, held);
    showAxes(true);
    const double error = greatestError(channels);
    QString text = tr("%1 output · %2 channels · box: quartiles, whiskers: 1 % and 99 %")
                       .arg(facts.title(node))
                       .arg(m_channels);
    if (held)
        text += tr(" · lines: holds %1 … %2").arg(scaleText(held->low), scaleText(held->high));
    if (error > 0)
        text += tr(" · within %1").arg(scaleText(error));
    if (m_inspections->isStale())
        text += tr(" · stale");
    m_caption->setText(text);
    m_plot->xAxis->setLabel(tr("channel"));
    setAccessibleDescription(text);
    replot();
}

void ChannelPlot::watch()
{
    m_inspections->setWatched(isVisible() && m_mode->chosen() == Boxes);
}

void ChannelPlot::showEvent(QShowEvent* event)
{
    PlotPage::showEvent(event);
    refresh(); // reads what only a visible page needs
    watch();
}

void ChannelPlot::hideEvent(QHideEvent* event)
{
    PlotPage::hideEvent(event);
    watch();
}

void ChannelPlot::leaveHeadroom()
{
    m_boxes.fit();
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/convergence_plot.h"

#include "engine/base/text.h"
#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QLabel>
#include <QPushButton>

#include <algorithm>
#include <cmath>

namespace qs {

ConvergencePlot::ConvergencePlot(Workspace& workspace, QWidget* parent)
    : PlotPage(workspace, QStringLiteral("convergencePlot"), parent)
    , m_hint(new QLabel(this))
    , m_limit(makeButton("calibrateLess", QString(), QString(), this))
{
    const Theme& t = theme();
    setNames(*m_plot, "convergence", tr("Range by batches of calibration"));
    m_hint->setObjectName(QStringLiteral("convergenceHint"));
    m_hint->setFont(uiFont(11));
    m_hint->setWordWrap(true);
    m_limit->setFont(uiFont(11));
    auto* foot = makeHBox(nullptr, {}, px(8));
    foot->addWidget(m_hint, 1);
    foot->addWidget(m_limit, 0, Qt::AlignBottom);
    m_column->addLayout(foot);
    connect(m_limit, &QPushButton::clicked, this,
            [this] { m_workspace.calibrating().limitToEnough(); });

    m_plot->xAxis->setScaleType(QCPAxis::stLogarithmic);
    auto ticker = QSharedPointer<QCPAxisTickerLog>::create();
    ticker->setLogBase(2);
    ticker->setSubTickCount(0);
    m_plot->xAxis->setTicker(ticker);
    m_plot->xAxis->setNumberFormat(QStringLiteral("f"));
    m_plot->xAxis->setNumberPrecision(0);
    m_low = m_plot->addGraph();
    m_high = m_plot->addGraph();
    QColor between = t.accent;
    between.setAlphaF(0.12f);
    for (QCPGraph* graph : {m_low, m_high}) {
        graph->setPen(QPen(t.accent, 2));
        graph->setAntialiased(true);
        graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, t.accent, px(5)));
    }
    m_high->setBrush(between);
    m_high->setChannelFillGraph(m_low);

    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.calibrating(), &LiveCalibration::changed, this, later);
    connect(&workspace.selection(), &Selection::changed, this, later);
    connect(&workspace, &Workspace::factsChanged, this, later);
    refresh();
}

QString ConvergencePlot::hintLine() const
{
    return m_hint->text();
}

ObserverId ConvergencePlot::drawnObserver() const
{
    const LiveCalibration& live = m_workspace.calibrating();
    const ObserverId selected = selectedObserver(m_workspace);
    if (selected && !live.ranges(selected).empty())
        return selected;
    if (!live.convergence())
        return {};
    ObserverId most;
    double change = -1;
    for (const RangeHistory& one : live.convergence()->observers) {
        const double now = rangeChange(one).value_or(0);
        if (now > change && !one.ranges.empty()) {
            most = one.id;
            change = now;
        }
    }
    return most;
}

void ConvergencePlot::refresh()
{
    const LiveCalibration& live = m_workspace.calibrating();
    const ObserverId drawn = drawnObserver();
    const bool isSelected = drawn && drawn == selectedObserver(m_workspace);
    m_ranges = isSelected ? live.ranges(drawn) : std::vector<RangeAfter>();
    const RangeHistory* history = live.convergence() ? live.convergence()->tryGet(drawn) : nullptr;
    if (!isSelected && history)
        m_ranges = history->ranges;
    const bool any = !m_ranges.empty();
    showAxes(any);
    m_low->setVisible(any);
    m_high->setVisible(any);
    const bool isCalibrated = m_workspace.document().calibration() != nullptr;
    m_empty->setText(live.isRunning() ? tr("The ranges appear after the first batches")
                         : isCalibrated
                         ? tr("No ranges by batches: the statistics are of an earlier calibration")
                         : tr("Calibrate to see how the ranges settle"));
    const Node* node = history && m_workspace.document().model()
        ? m_workspace.document().model()->tryFind(history->name)
        : nullptr;
    m_caption->setText(!any ? tr("Convergence")
                            : tr("%1%2 · range by batches")
                                  .arg(isSelected ? QString() : tr("changes most: "),
                                       node ? m_workspace.facts().title(node->id) : QString()));
    refreshHint();
    draw();
    setAccessibleName(tr("Convergence of the ranges"));
    setAccessibleDescription(any ? m_caption->text() + QLatin1Char('\n') + m_hint->text()
                                 : m_empty->text());
}

void ConvergencePlot::refreshHint()
{
    const LiveCalibration& live = m_workspace.calibrating();
    const auto hint = live.hint();
    QString text;
    if (hint)
        text = m_workspace.facts().titled(toQString(hintText(*hint)));
    else if (live.convergence())
        text = live.isRunning() ? tr("A hint follows after %1 batches").arg(kLeastBatches)
                                : tr("No hint from fewer than %1 batches").arg(kLeastBatches);
    m_hint->setText(text);
    m_hint->setVisible(!text.isEmpty());
    m_hint->setStyleSheet(inkStyle(hint && !hint->isSettled ? theme().warning : theme().muted));
    const std::int64_t enough = live.enoughBatches();
    const int limit = m_workspace.document().recipe().calibration.batches;
    m_limit->setVisible(enough > 0 && (limit == 0 || limit > enough));
    m_limit->setText(tr("Calibrate on %1").arg(toQString(counted(enough, "batch"))));
    m_limit->setToolTip(tr("Later calibrations read %1: the ranges were nearly the same then. "
                           "Can be undone")
                            .arg(toQString(counted(enough, "batch"))));
    m_limit->setAccessibleName(m_limit->text());
}

void ConvergencePlot::draw()
{
    QVector<double> batches, lows, highs;
    for (const RangeAfter& one : m_ranges) {
        batches << double(one.batches);
        lows << double(one.low);
        highs << double(one.high);
    }
    m_low->setData(batches, lows, true);
    m_high->setData(batches, highs, true);
    if (!batches.isEmpty()) {
        const auto& snapshot = m_workspace.calibrating().snapshot();
        const double last = std::max(
            {2.0, batches.back(), snapshot ? double(snapshot->allBatches) : batches.back()});
        m_plot->xAxis->setRange(batches.front() * 0.93, last * 1.08);
        leaveHeadroom();
    }
    replot();
}

void ConvergencePlot::leaveHeadroom()
{
    if (m_ranges.empty())
        return;
    double low = 0, high = 0; // as quantization, with zero
    for (const RangeAfter& one : m_ranges) {
        low = std::min(low, double(one.low));
        high = std::max(high, double(one.high));
    }
    const double margin = std::max((high - low) * 0.08, 1e-12);
    m_plot->yAxis->setRange(low - margin, high + margin);
}

} // namespace qs

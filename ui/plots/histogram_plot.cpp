// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/histogram_plot.h"

#include "engine/base/text.h"
#include "ui/graph/style/graph_style.h"
#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/range_bar.h"
#include "ui/session/coalesce.h"
#include "ui/session/decisions/trained_ranges.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QTimer>

#include <cmath>

namespace qs {

namespace {

constexpr int kBars = 84;
constexpr int kRestMs = 40; ///< pause before the effect on the outputs is requested
constexpr double kFloor = 0.7; ///< bottom of the logarithmic count axis

QString number(double value)
{
    return QString::number(value, 'g', 3);
}

/// Adds a line over the whole height of the plot.
QCPItemLine* newEdge(QCustomPlot& plot, const QPen& pen)
{
    auto* edge = new QCPItemLine(&plot);
    edge->setPen(pen);
    for (auto* position : {edge->start, edge->end})
        position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    return edge;
}

/// Adds a label beside such a line, at the top.
QCPItemText* newLabel(QCustomPlot& plot, const QColor& ink)
{
    auto* label = new QCPItemText(&plot);
    label->setColor(ink);
    label->setFont(uiFont(10.5));
    label->setTextAlignment(Qt::AlignLeft);
    label->setPadding(QMargins(6, 0, 6, 0));
    QColor backing = theme().panel;
    backing.setAlphaF(0.8f);
    label->setBrush(backing);
    label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    return label;
}

/// Returns "holds 0 … 6.37".
QString rangeText(const QString& words, const ValueEnds& ends)
{
    return words.arg(number(ends.low), number(ends.high));
}

} // namespace

HistogramPlot::HistogramPlot(Workspace& workspace, QWidget* parent)
    : PlotPage(workspace, QStringLiteral("histogramPlot"), parent)
    , m_footer(new ElidedLabel(QString(), monoFont(10.5), this))
    , m_bar(new RangeBar(this))
    , m_asking(new QTimer(this))
{
    const Theme& t = theme();
    m_footer->setColor(t.muted);
    m_footer->setObjectName(QStringLiteral("histogramFooter"));
    m_column->addWidget(m_footer);
    m_column->addWidget(m_bar);
    setNames(*m_plot, "histogram", tr("Histogram and the range that is kept"));
    m_plot->setFocusPolicy(Qt::StrongFocus);
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
    connect(m_bar, &RangeBar::applyWanted, this, &HistogramPlot::applyTrial);
    m_asking->setSingleShot(true);
    m_asking->setInterval(kRestMs);
    connect(m_asking, &QTimer::timeout, this, &HistogramPlot::askEffect);
    connect(&workspace.live(), &LivePreview::tried, this, &HistogramPlot::showEffect);
    connect(m_bar, &RangeBar::backWanted, this, &HistogramPlot::putBack);
    connect(m_bar, &RangeBar::snapWanted, this, &HistogramPlot::snapTo);
    connect(&workspace.alternatives(), &AlternativesAsked::arrived, this,
            [this] { m_bar->setSnaps(snaps()); });

    m_plot->yAxis->setScaleType(QCPAxis::stLogarithmic);
    auto ticker = QSharedPointer<QCPAxisTickerLog>::create();
    ticker->setSubTickCount(0);
    m_plot->yAxis->setTicker(ticker);
    m_plot->yAxis->setNumberFormat(QStringLiteral("eb"));
    m_plot->yAxis->setNumberPrecision(0);
    m_kept = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    m_beyond = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    m_steps = m_plot->addGraph();
    for (auto* bars : {m_kept, m_beyond}) {
        bars->setPen(Qt::NoPen);
        bars->setAntialiased(true);
        bars->setWidthType(QCPBars::wtPlotCoords);
        bars->setBaseValue(kFloor);
    }
    m_kept->setBrush(t.histogram);
    m_beyond->setBrush(t.histogramBeyond);
    m_steps->setLineStyle(QCPGraph::lsImpulse);
    m_steps->setPen(QPen(t.accent, 1));
    m_steps->setAntialiased(false); // hundreds of vertical lines
    QColor shade = t.danger;
    shade.setAlphaF(0.10f);
    for (int side = 0; side < 2; ++side) {
        m_shade[side] = new QCPItemRect(m_plot);
        m_shade[side]->setPen(Qt::NoPen);
        m_shade[side]->setBrush(shade);
        m_edge[side] = newEdge(*m_plot, QPen(t.danger, 1.5, Qt::DashLine));
        m_chosenEdge[side] = newEdge(*m_plot, QPen(t.accent, 1.5, Qt::DotLine));
        for (auto* position : {m_shade[side]->topLeft, m_shade[side]->bottomRight})
            position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    m_label = newLabel(*m_plot, t.danger);
    m_chosenLabel = newLabel(*m_plot, t.accent);

    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.selection(), &Selection::changed, this, later);
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.calibrating(), &LiveCalibration::changed, this, later);
    refresh();
}

void HistogramPlot::refresh()
{
    const auto& facts = m_workspace.facts();
    const auto& selection = m_workspace.selection();
    const NodeId node = selection.current();
    const ObserverId interior = selection.interior();
    const auto edge = interior ? std::optional<Edge>() : inspectedEdge(m_workspace);
    const ObserverId observer = selectedObserver(m_workspace);
    m_workspace.calibrating().ask(observer);
    const auto* stats = facts.stats(observer);
    const Histogram* histogram = shownHistogram(stats);
    const bool any = histogram && !histogram->empty() && histogram->max > histogram->min;
    for (auto* layerable :
         {static_cast<QCPLayerable*>(m_kept), static_cast<QCPLayerable*>(m_beyond),
          static_cast<QCPLayerable*>(m_steps), static_cast<QCPLayerable*>(m_label),
          static_cast<QCPLayerable*>(m_chosenLabel)})
        layerable->setVisible(any);
    for (int side = 0; side < 2; ++side) {
        m_shade[side]->setVisible(false);
        m_edge[side]->setVisible(false);
        m_chosenEdge[side]->setVisible(false);
    }
    showAxes(any);
    m_footer->setVisible(any);
    m_barCount = 0;
    const CalibrationPtr& calibration = m_workspace.document().calibration();
    const bool goesOn
        = m_trial.isMoved() && observer == m_observer && calibration == m_calibration && any;
    if (!goesOn) {
        m_trial = {};
        m_drag.reset();
    }
    m_observer = observer;
    m_calibration = calibration;
    m_histogram = nullptr;
    m_labelled = false;
    const QString name = edge ? edgeText(facts, *edge) : facts.title(node);
    const auto* planned = facts.observer(observer);
    const QString what = edge                   ? tr("edge")
        : planned && !planned->interior.empty() ? QString::fromStdString(planned->interior)
                                                : tr("output");
    if (isLive(observer))
        return showLive(QStringLiteral("%1 %2").arg(name, what));
    m_snapshot = nullptr;
    if (!any) {
        m_bar->setVisible(false);
        m_caption->setText(tr("Histogram"));
        const bool calibrated = m_workspace.document().calibration() != nullptr;
        m_empty->setText(!calibrated ? tr("Calibrate to see the observers' histograms")
                             : edge  ? tr("This edge has no observer")
                             : node  ? tr("This node's output has no observer")
                                     : tr("Select a node"));
        replot();
        return;
    }
    const auto batches = m_workspace.document().calibration()->observations->batches;
    m_caption->setText(tr("%1 %2 · %3 values · %4%5")
                           .arg(name, what, countText(double(stats->count)))
                           .arg(toQString(counted(batches, "batch")))
                           .arg(facts.calibrationStale() ? tr(" · stale") : QString()));

    const auto* params = facts.qparams(observer);
    const bool ranged = params && params->scale.size() == 1 && params->zeroPoint.size() == 1;
    if (ranged && !goesOn)
        m_trial = RangeTrial(*stats, *params);
    m_labelled = ranged;
    m_steps->setVisible(ranged);
    m_bar->setVisible(ranged);
    m_bar->setApplicable(!interior);
    if (ranged)
        m_footerText = hasTrainedRange(facts, planned)
            ? tr("range from training")
            : toQString(observerKindName(stats->spec.kind));
    else
        m_footer->setText({});
    m_histogram = histogram;
    m_bar->setSnaps(ranged ? snaps() : std::vector<Alternative>());
    showTrial();
}

/// Draws the counts and the current or tried range with its loss.
void HistogramPlot::showTrial()
{
    const bool ranged = m_labelled;
    const Histogram& histogram = *m_histogram;
    const ValueEnds data {double(histogram.min), double(histogram.max)};
    fillBars(histogram, ranged ? m_trial.held() : data);
    if (!m_drag) { // keep the axis while an end is dragged
        const ValueEnds chosen = ranged ? ValueEnds {m_trial.end(0), m_trial.end(1)} : data;
        const auto [least, most] = drawnEnds(data, chosen, ranged ? m_trial.held() : data);
        const double margin = (most - least) * 0.02;
        m_plot->xAxis->setRange(least - margin, most + margin);
    }
    if (ranged) {
        const QParams& params = m_trial.qparams();
        const QCPRange shown = m_plot->xAxis->range();
        showRange({shown.lower, shown.upper});
        showSteps(heldEnds(params).low, double(params.scale.front()), shown.lower, shown.upper);
        m_footer->setText(tr("%1   step %2   z %3   range %4…%5")
                              .arg(m_footerText, scaleText(double(params.scale.front())))
                              .arg(params.zeroPoint.front())
                              .arg(params.quantMin)
                              .arg(params.quantMax));
        m_footer->setToolTip(m_footer->text() + QLatin1Char('\n') + m_label->text());
        m_bar->show(m_trial);
        m_bar->showEffect({});
        if (m_trial.isMoved()) {
            m_workspace.live().stopTrying(); // it is of another range
            m_asking->start();
        }
        m_footer->setVisible(!m_trial.isMoved());
    }
    leaveHeadroom();
    replot();
}

void HistogramPlot::fillBars(const Histogram& histogram, const ValueEnds& held)
{
    const std::size_t merge = std::max<std::size_t>(1, histogram.counts.size() / kBars);
    const double bin
        = (double(histogram.max) - double(histogram.min)) / double(histogram.counts.size());
    QVector<double> keptX, keptY, beyondX, beyondY;
    m_peak = 1;
    m_countBeyond = 0;
    m_barCount = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); i += merge) {
        double sum = 0;
        const std::size_t end = std::min(i + merge, histogram.counts.size());
        for (std::size_t j = i; j < end; ++j)
            sum += double(histogram.counts[j]);
        const double at = double(histogram.min) + bin * double(i + end) / 2;
        // The bar at zero counts as held: zero is always representable, and a peak there is zeros.
        const double begin = double(histogram.min) + bin * double(i);
        const bool isZero = begin <= 0 && begin + bin * double(end - i) > 0;
        const bool inside = isZero || (at >= held.low && at <= held.high);
        m_countBeyond += inside ? 0 : sum;
        (inside ? keptX : beyondX) << at;
        (inside ? keptY : beyondY) << std::max(sum, kFloor);
        m_peak = std::max(m_peak, sum);
        ++m_barCount;
    }
    m_kept->setWidth(bin * double(merge) * 0.86);
    m_beyond->setWidth(bin * double(merge) * 0.86);
    m_kept->setData(keptX, keptY, true);
    m_beyond->setData(beyondX, beyondY, true);
}

/// Leaves room for the labels above the highest bar.
void HistogramPlot::leaveHeadroom()
{
    // A low plot has room for few axis labels, a narrow one for no range labels.
    const double rows = std::max(1.0, (m_plot->height() - px(26)) / double(px(18)));
    const double step = std::max(1.0, std::ceil(std::log10(std::max(m_peak, 10.0)) / rows));
    if (const auto ticker = m_plot->yAxis->ticker().dynamicCast<QCPAxisTickerLog>())
        ticker->setLogBase(std::pow(10, step));
    const QFontMetrics metrics(m_label->font());
    const double room = m_plot->axisRect()->width();
    const auto widthOf = [&](const QCPItemText* label) {
        return metrics.boundingRect(QRect(0, 0, 4000, 400), 0, label->text()).width() + px(24);
    };
    const bool isHigh = m_labelled && m_plot->height() > px(90);
    m_label->setVisible(isHigh && widthOf(m_label) < room * 3 / 4);
    m_chosenLabel->setVisible(isHigh && m_trial.holdsMore()
                              && widthOf(m_label) + widthOf(m_chosenLabel) < room);
    const double share = headroomShare(*m_plot);
    m_plot->yAxis->setRange(kFloor, kFloor * std::pow(m_peak / kFloor, 1 / (1 - share)));
}

void HistogramPlot::showRange(const ValueEnds& shown)
{
    const ValueEnds& held = m_trial.held();
    const double ends[2][2] = {{shown.low, held.low}, {held.high, shown.high}};
    for (int side = 0; side < 2; ++side) {
        m_shade[side]->setVisible(ends[side][0] < ends[side][1]);
        m_shade[side]->topLeft->setCoords(ends[side][0], 0);
        m_shade[side]->bottomRight->setCoords(ends[side][1], 1);
        m_edge[side]->setVisible(true);
        m_edge[side]->start->setCoords(m_trial.heldEnd(side), 0);
        m_edge[side]->end->setCoords(m_trial.heldEnd(side), 1);
        m_chosenEdge[side]->setVisible(m_trial.holdsMore());
        m_chosenEdge[side]->start->setCoords(m_trial.end(side), 0);
        m_chosenEdge[side]->end->setCoords(m_trial.end(side), 1);
    }
    const double beyond = m_trial.beyond();
    const QString share = beyond == 0 ? tr("nothing")
        : beyond < 1e-4               ? tr("under 0.01 %")
                                      : QStringLiteral("%1 %").arg(number(beyond * 100));
    m_label->setText(
        rangeText(m_trial.holdsMore() ? tr("holds %1 … %2") : tr("keeps %1 … %2"), held)
        + tr("\n%1 beyond").arg(share));
    m_chosenLabel->setText(m_trial.holdsMore() ? rangeText(tr("scale chosen for\n%1 … %2"),
                                                           {m_trial.end(0), m_trial.end(1)})
                                               : QString());
    const double middle = shown.low + (shown.high - shown.low) * 0.72;
    placeLabel(*m_label, std::min(held.high, shown.high), held.high < middle);
    placeLabel(*m_chosenLabel, m_trial.end(1), false);
}

void HistogramPlot::placeLabel(QCPItemText& label, double at, bool toTheRight)
{
    label.setPositionAlignment((toTheRight ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignTop);
    label.position->setCoords(at, 0.01);
}

void HistogramPlot::showSteps(double low, double step, double dataMin, double dataMax)
{
    // One short vertical line per quantization step.
    QVector<double> x, y;
    const double first = std::max(0.0, std::ceil((dataMin - low) / step));
    for (double k = first; k < first + 1024 && low + k * step <= dataMax; ++k) {
        x << low + k * step;
        y << kFloor * 1.5;
    }
    m_steps->setData(x, y, true);
}

} // namespace qs

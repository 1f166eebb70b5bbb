// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/histogram_plot.h"

#include "engine/base/text.h"
#include "ui/graph/style/graph_style.h"
#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/range_bar.h"
#include "ui/session/coalesce.h"
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
constexpr int kRestMs = 40; ///< without a move, and the outputs are asked about
constexpr double kFloor = 0.7; ///< bottom of the logarithmic count axis

QString number(double value)
{
    return QString::number(value, 'g', 3);
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
    QColor shade = t.danger;
    shade.setAlphaF(0.10f);
    for (int side = 0; side < 2; ++side) {
        m_shade[side] = new QCPItemRect(m_plot);
        m_shade[side]->setPen(Qt::NoPen);
        m_shade[side]->setBrush(shade);
        m_edge[side] = new QCPItemLine(m_plot);
        m_edge[side]->setPen(QPen(t.danger, 1.5, Qt::DashLine));
        for (auto* position : {m_edge[side]->start, m_edge[side]->end, m_shade[side]->topLeft,
                               m_shade[side]->bottomRight})
            position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    m_label = new QCPItemText(m_plot);
    m_label->setColor(t.danger);
    m_label->setFont(uiFont(10.5));
    m_label->setTextAlignment(Qt::AlignLeft);
    QColor backing = t.panel;
    backing.setAlphaF(0.8f);
    m_label->setBrush(backing);
    m_label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);

    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.selection(), &Selection::changed, this, later);
    connect(&workspace, &Workspace::factsChanged, this, later);
    refresh();
}

void HistogramPlot::refresh()
{
    const auto& facts = m_workspace.facts();
    const auto& selection = m_workspace.selection();
    const NodeId node = selection.current();
    const ObserverId interior = selection.interior();
    const auto edge = interior ? std::optional<Edge>() : edgeLookedAt(m_workspace);
    const auto observer = interior ? interior
        : edge                     ? observerOnEdge(m_workspace, *edge)
                                   : facts.outputObserver(node);
    const auto* stats = facts.stats(observer);
    const Histogram* histogram = shownHistogram(stats);
    const bool any = histogram && !histogram->empty() && histogram->max > histogram->min;
    for (auto* layerable :
         {static_cast<QCPLayerable*>(m_kept), static_cast<QCPLayerable*>(m_beyond),
          static_cast<QCPLayerable*>(m_steps), static_cast<QCPLayerable*>(m_label)})
        layerable->setVisible(any);
    for (int side = 0; side < 2; ++side) {
        m_shade[side]->setVisible(false);
        m_edge[side]->setVisible(false);
    }
    showAxes(any);
    m_footer->setText({});
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
    m_bar->setVisible(false);
    m_labelled = false;
    if (!any) {
        m_caption->setText(tr("Histogram"));
        const bool calibrated = m_workspace.document().calibration() != nullptr;
        m_empty->setText(!calibrated ? tr("Calibrate to see what the observers see")
                             : edge  ? tr("No observer sits on this edge")
                             : node  ? tr("No observer sits on this node's output")
                                     : tr("Select a node"));
        m_plot->replot(QCustomPlot::rpQueuedReplot);
        return;
    }
    const Node* shown = facts.model()->tryGet(node);
    const QString name = edge       ? edgeText(*facts.model(), *edge)
        : shown->scope.path.empty() ? QString::fromStdString(shown->name)
                                    : QString::fromStdString(shown->scope.path);
    const auto* planned = facts.observer(observer);
    const QString what = edge                   ? tr("edge")
        : planned && !planned->interior.empty() ? QString::fromStdString(planned->interior)
                                                : tr("output");
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
        m_footerText = QString::fromLatin1("%1").arg(toQString(observerKindName(stats->spec.kind)));
    m_histogram = histogram;
    m_bar->setSnaps(ranged ? snaps() : std::vector<Alternative>());
    showTrial();
}

/// The counts, the range that is kept or tried, and what it loses.
void HistogramPlot::showTrial()
{
    const bool ranged = m_labelled;
    const Histogram& histogram = *m_histogram;
    const double low = ranged ? m_trial.end(0) : double(histogram.min);
    const double high = ranged ? m_trial.end(1) : double(histogram.max);
    fillBars(histogram, low, high);
    if (!m_drag) { // while an end is dragged the axis stays
        const double least = std::min(double(histogram.min), low);
        const double most = std::max(double(histogram.max), high);
        const double margin = (most - least) * 0.02;
        m_plot->xAxis->setRange(least - margin, most + margin);
    }
    if (ranged) {
        const QParams& params = m_trial.qparams();
        const QCPRange shown = m_plot->xAxis->range();
        const auto& noise = m_trial.noise();
        showRange(low, high, noise ? noise->beyond : 0, shown.lower, shown.upper);
        showSteps(keptRange(params).first, double(params.scale.front()), shown.lower, shown.upper);
        m_footer->setText(tr("%1   step %2   z %3   range %4…%5")
                              .arg(m_footerText, scaleText(double(params.scale.front())))
                              .arg(params.zeroPoint.front())
                              .arg(params.quantMin)
                              .arg(params.quantMax));
        m_footer->setToolTip(m_footer->text() + QLatin1Char('\n') + m_label->text());
        m_bar->show(m_trial);
        m_bar->showEffect({});
        if (m_trial.isMoved()) {
            m_workspace.live().stopTrying(); // that was another range
            m_asking->start();
        }
        m_footer->setVisible(!m_trial.isMoved());
    }
    leaveHeadroom();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void HistogramPlot::fillBars(const Histogram& histogram, double low, double high)
{
    const std::size_t merge = std::max<std::size_t>(1, histogram.counts.size() / kBars);
    const double bin
        = (double(histogram.max) - double(histogram.min)) / double(histogram.counts.size());
    QVector<double> keptX, keptY, beyondX, beyondY;
    m_peak = 1;
    m_barCount = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); i += merge) {
        double sum = 0;
        const std::size_t end = std::min(i + merge, histogram.counts.size());
        for (std::size_t j = i; j < end; ++j)
            sum += double(histogram.counts[j]);
        const double at = double(histogram.min) + bin * double(i + end) / 2;
        const bool inside = at >= low && at <= high;
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

/// The label stands above the highest bar, whatever the plot's height.
void HistogramPlot::leaveHeadroom()
{
    // A low plot has room for a few counts only, a narrow one for none of the words.
    const double rows = std::max(1.0, (m_plot->height() - px(26)) / double(px(18)));
    const double step = std::max(1.0, std::ceil(std::log10(std::max(m_peak, 10.0)) / rows));
    if (const auto ticker = m_plot->yAxis->ticker().dynamicCast<QCPAxisTickerLog>())
        ticker->setLogBase(std::pow(10, step));
    const QFontMetrics metrics(m_label->font());
    const int words = metrics.boundingRect(QRect(0, 0, 4000, 400), 0, m_label->text()).width();
    m_label->setVisible(m_labelled && words + px(24) < m_plot->axisRect()->width() * 3 / 4
                        && m_plot->height() > px(90));
    const double share = headroomShare(*m_plot);
    m_plot->yAxis->setRange(kFloor, kFloor * std::pow(m_peak / kFloor, 1 / (1 - share)));
}

void HistogramPlot::showRange(double low, double high, double beyond, double dataMin,
                              double dataMax)
{
    const double ends[2][2] = {{dataMin, low}, {high, dataMax}};
    const double edges[2] = {low, high};
    for (int side = 0; side < 2; ++side) {
        m_shade[side]->setVisible(true);
        m_shade[side]->topLeft->setCoords(ends[side][0], 0);
        m_shade[side]->bottomRight->setCoords(ends[side][1], 1);
        m_edge[side]->setVisible(true);
        m_edge[side]->start->setCoords(edges[side], 0);
        m_edge[side]->end->setCoords(edges[side], 1);
    }
    const bool roomRight = high < dataMin + (dataMax - dataMin) * 0.72;
    m_label->setPositionAlignment((roomRight ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignTop);
    m_label->setPadding(QMargins(6, 0, 6, 0));
    m_label->position->setCoords(high, 0.01);
    const QString share = beyond == 0 ? tr("nothing")
        : beyond < 1e-4               ? tr("under 0.01 %")
                                      : QStringLiteral("%1 %").arg(number(beyond * 100));
    m_label->setText(tr("keeps %1 … %2\n%3 beyond").arg(number(low), number(high), share));
}

void HistogramPlot::showSteps(double low, double step, double dataMin, double dataMax)
{
    // A comb of one tooth a step, low enough to leave the counts readable.
    QVector<double> x, y;
    const double first = std::max(0.0, std::ceil((dataMin - low) / step));
    for (double k = first; k < first + 1024 && low + k * step <= dataMax; ++k) {
        x << low + k * step;
        y << kFloor * 1.5;
    }
    m_steps->setData(x, y, true);
}

} // namespace qs

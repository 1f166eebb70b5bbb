// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/front_plot.h"

#include "engine/base/text.h"
#include "engine/result/part_text.h"
#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kMostDb = 120; ///< of the axis; better trials are drawn there

double across(const Trial& trial)
{
    return 100 * trial.int8Macs;
}

double upwards(const Trial& trial)
{
    return std::clamp(trial.guard.db, -kMostDb, kMostDb);
}

/// Labels ticks with their unit.
class UnitTicker : public QCPAxisTicker
{
public:
    UnitTicker(const QString& unit, int ticks)
        : m_unit(unit)
    {
        setTickCount(ticks);
    }

protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override
    {
        return QCPAxisTicker::getTickLabel(tick, locale, format, precision) + m_unit;
    }

private:
    QString m_unit;
};

QCPGraph* addDots(QCustomPlot& plot, const QColor& line, const QColor& fill)
{
    QCPGraph* dots = plot.addGraph();
    dots->setLineStyle(QCPGraph::lsNone);
    dots->setAntialiasedScatters(true);
    dots->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(line, 1.5), fill, px(8)));
    return dots;
}

QCPItemTracer* addRing(QCustomPlot& plot, const QPen& pen, int size)
{
    auto* ring = new QCPItemTracer(&plot);
    ring->setStyle(QCPItemTracer::tsCircle);
    ring->setPen(pen);
    ring->setBrush(Qt::NoBrush);
    ring->setSize(size);
    ring->position->setType(QCPItemPosition::ptPlotCoords);
    return ring;
}

QCPItemText* addWords(QCustomPlot& plot, const QColor& ink)
{
    auto* words = new QCPItemText(&plot);
    words->setFont(uiFont(10.5));
    words->setColor(ink);
    QColor backing = theme().panel;
    backing.setAlphaF(0.86f);
    words->setBrush(backing);
    words->setPadding(QMargins(4, 1, 4, 1));
    words->setTextAlignment(Qt::AlignLeft);
    return words;
}

} // namespace

FrontPlot::FrontPlot(Workspace& workspace, QWidget* parent)
    : DotPlot(workspace, QStringLiteral("frontPlot"), "frontDots", tr("Trials of the search"),
              parent)
{
    const Theme& t = theme();
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setNumberFormat(QStringLiteral("g"));
        axis->setNumberPrecision(3);
    }
    m_plot->yAxis->setTicker(QSharedPointer<UnitTicker>::create(tr(" dB"), 4));
    m_plot->xAxis->setTicker(QSharedPointer<UnitTicker>::create(tr(" %"), 2));
    m_goal = new QCPItemStraightLine(m_plot);
    m_goal->setPen(QPen(t.accent, 1.5, Qt::DashLine));
    m_least = new QCPItemStraightLine(m_plot);
    m_least->setPen(QPen(t.muted, 1, Qt::DotLine));
    m_predicted = new QCPCurve(m_plot->xAxis, m_plot->yAxis);
    m_predicted->setPen(QPen(t.muted, 1.5, Qt::DashDotLine));
    m_front = m_plot->addGraph();
    m_front->setPen(QPen(t.faint, 1.5));
    m_front->setLineStyle(QCPGraph::lsStepRight);
    m_missed = addDots(*m_plot, t.muted, t.panel);
    m_reached = addDots(*m_plot, t.accent, t.accent);
    m_ring = addRing(*m_plot, QPen(t.text, 2), px(15));
    m_mark = addRing(*m_plot, QPen(t.accent, 2), px(12));
    m_goalText = addWords(*m_plot, t.accent);
    m_goalText->setBrush(Qt::NoBrush);
    m_goalText->setLayer(QStringLiteral("grid")); // below the dots
    m_goalText->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_goalText->position->setTypeY(QCPItemPosition::ptPlotCoords);
    m_label = addWords(*m_plot, t.text);
    m_label->position->setTypeX(QCPItemPosition::ptAbsolute);
    m_label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_predictedText = addWords(*m_plot, t.muted);
    m_predictedText->setText(tr("predicted: operators kept float"));
    m_predictedText->position->setType(QCPItemPosition::ptAxisRectRatio);
    m_predictedText->position->setCoords(1, 0);
    m_predictedText->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
    m_empty->setText(tr("Each trial is a dot here"));
    m_caption->hide();
    connect(m_plot, &QCustomPlot::afterLayout, this, &FrontPlot::placeLabel);
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.cureSearch(), &CureSearch::changed, this, later);
    connect(&workspace.document(), &Document::resultsChanged, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    refresh();
}

void FrontPlot::refresh()
{
    const CureSearch& search = m_workspace.cureSearch();
    const std::vector<Trial>& trials = search.state().trials;
    QVector<double> missedX, missedY, reachedX, reachedY, frontX, frontY;
    std::vector<QPointF> places;
    for (const Trial& trial : trials) {
        places.emplace_back(across(trial), upwards(trial));
        (trial.reached ? reachedX : missedX) << places.back().x();
        (trial.reached ? reachedY : missedY) << places.back().y();
    }
    setDots(std::move(places));
    for (const std::size_t i : tuneFront(trials)) {
        frontX << across(trials[i]);
        frontY << upwards(trials[i]);
    }
    m_missed->setData(missedX, missedY);
    m_reached->setData(reachedX, reachedY);
    m_front->setData(frontX, frontY);
    showPredicted();
    const bool any = dotCount() > 0;
    const bool isShown = any || !prediction().empty();
    showAxes(isShown);
    m_ring->setVisible(any);
    if (any)
        m_ring->position->setCoords(across(*search.best()), upwards(*search.best()));
    const TuneGoal goal = wanted().goal;
    const bool isDrawn = isShown && tellsNoise(goal);
    m_goal->setVisible(isDrawn);
    m_goalText->setVisible(isDrawn);
    m_least->setVisible(isShown);
    if (isDrawn) {
        m_goal->point1->setCoords(0, aimedDb(goal));
        m_goal->point2->setCoords(1, aimedDb(goal));
        m_goalText->setText(tr("goal %1").arg(goalWords(goal)));
        m_goalText->position->setCoords(0, aimedDb(goal));
    }
    const double least = 100 * wanted().keepInt8;
    m_least->point1->setCoords(least, 0);
    m_least->point2->setCoords(least, 1);
    setRanges();
    setCurrent(std::min(m_current, dotCount() - 1));
    replot();
}

CureChoices FrontPlot::wanted() const
{
    const CureSearch& search = m_workspace.cureSearch();
    if (search.phase() == CureSearch::Phase::Idle)
        return search.choices();
    CureChoices choices;
    choices.goal = search.request().goal;
    choices.keepInt8 = search.request().keepInt8;
    return choices;
}

const std::vector<PredictedPoint>& FrontPlot::prediction() const
{
    static const std::vector<PredictedPoint> kNone;
    const Document& document = m_workspace.document();
    if (const CureSearch& search = m_workspace.cureSearch();
        search.phase() != CureSearch::Phase::Idle)
        return search.state().front;
    return document.diagnosis() && !document.isDiagnosisStale() ? document.diagnosis()->front
                                                                : kNone;
}

void FrontPlot::showPredicted()
{
    QVector<double> x, y;
    for (const PredictedPoint& point : prediction()) {
        x << 100 * point.int8Macs;
        y << std::min(point.db, kMostDb);
    }
    m_predicted->setData(x, y);
    m_predictedText->setVisible(!x.isEmpty() && dotCount() == 0);
}

void FrontPlot::setRanges()
{
    const auto& trials = m_workspace.cureSearch().state().trials;
    const CureChoices choices = wanted();
    double left = std::min(100 * choices.keepInt8, 99.0);
    std::vector<double> heights;
    if (tellsNoise(choices.goal))
        heights.push_back(aimedDb(choices.goal));
    for (const Trial& trial : trials) {
        left = std::min(left, across(trial));
        heights.push_back(upwards(trial));
    }
    for (const PredictedPoint& point : prediction())
        if (trials.empty() && 100 * point.int8Macs >= left)
            heights.push_back(std::min(point.db, kMostDb));
    if (heights.empty())
        return;
    const double lowest = *std::min_element(heights.begin(), heights.end());
    const double highest = *std::max_element(heights.begin(), heights.end());
    const double margin = 0.06 * (100 - left);
    m_plot->xAxis->setRange(left - margin, 100 + margin);
    const double span = std::max(highest - lowest, 2.0);
    const double foot = lowest - span * 0.12, top = highest + span * 0.15;
    m_plot->yAxis->setRange(foot, top);
    const bool isHigh = m_goalText->position->value() > foot + (top - foot) * 0.7;
    m_goalText->setPositionAlignment(Qt::AlignLeft | (isHigh ? Qt::AlignTop : Qt::AlignBottom));
}

QString FrontPlot::dotText(int trial) const
{
    const CureSearch& search = m_workspace.cureSearch();
    const Trial& shown = search.state().trials[std::size_t(trial)];
    const auto cures = std::int64_t(shown.cures.size()) + (shown.floatNeedless ? 1 : 0);
    QStringList details;
    if (shown.predictedDb)
        details << tr("predicted %1").arg(shownSqnr(*shown.predictedDb));
    details << toQString(counted(cures, "cure"));
    details << (search.taken() == std::size_t(trial) ? tr("taken")
                                                     : tr("a click or Return takes it"));
    return tr("%1. %2: %3, %4 int8")
               .arg(trial + 1)
               .arg(toQString(shown.stage), shownSqnr(shown.guard.db),
                    toQString(partText(shown.int8Macs)))
        + QLatin1Char('\n') + details.join(QStringLiteral(" · "));
}

void FrontPlot::setCurrent(int trial)
{
    m_current = trial;
    const bool any = trial >= 0;
    m_mark->setVisible(any);
    m_label->setVisible(any);
    if (any) {
        const Trial& shown = m_workspace.cureSearch().state().trials[std::size_t(trial)];
        m_mark->position->setCoords(across(shown), upwards(shown));
        m_label->setText(dotText(trial));
    }
    m_plot->setToolTip(any ? dotText(trial) : QString());
    m_plot->setAccessibleDescription(any ? dotText(trial) : m_empty->text());
    placeLabel();
}

/// Places the label in the half of the plot without its dot, within the sides of the plot.
void FrontPlot::placeLabel()
{
    if (m_current < 0)
        return;
    const auto padding = m_label->padding();
    const QFontMetricsF metrics(m_label->font());
    const double most = m_plot->axisRect()->width() - padding.left() - padding.right() - 4;
    double widest = 0;
    QStringList lines;
    for (const QString& line : dotText(m_current).split(QLatin1Char('\n'))) {
        lines << metrics.elidedText(line, Qt::ElideRight, most);
        widest = std::max(widest, metrics.horizontalAdvance(lines.back()));
    }
    m_label->setText(lines.join(QLatin1Char('\n')));
    const QRect room = m_plot->axisRect()->rect();
    const double width = widest + padding.left() + padding.right() + 2;
    const double left
        = std::clamp(m_plot->xAxis->coordToPixel(m_mark->position->key()) - width / 2,
                     double(room.left()), std::max(double(room.left()), room.right() - width));
    const bool isHigh = m_plot->yAxis->coordToPixel(m_mark->position->value()) < room.center().y();
    m_label->setPositionAlignment(Qt::AlignLeft | (isHigh ? Qt::AlignBottom : Qt::AlignTop));
    m_label->position->setCoords(left, isHigh ? 1 : 0);
}

void FrontPlot::pointAt(int dot)
{
    if (dot >= 0 && dot != m_current)
        moveTo(dot);
}

void FrontPlot::moveTo(int dot)
{
    setCurrent(dot);
    replot();
}

void FrontPlot::choose(int dot)
{
    setCurrent(dot);
    m_workspace.cureSearch().take(std::size_t(dot));
}

} // namespace qs

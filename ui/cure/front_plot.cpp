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

#include <QKeyEvent>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kReach = 12; ///< pixels around a dot that belong to it
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
    : PlotPage(workspace, QStringLiteral("frontPlot"), parent)
{
    const Theme& t = theme();
    m_column->setContentsMargins(px(8), 0, 0, 0);
    m_plot->setFocusPolicy(Qt::StrongFocus);
    setNames(*m_plot, "frontDots", tr("Trials of the search"));
    m_plot->setMinimumSize(px(110), px(44));
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
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
    m_empty->setText(tr("Each trial is a dot here"));
    m_caption->hide();
    connect(m_plot, &QCustomPlot::afterLayout, this, &FrontPlot::placeLabel);
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.cureSearch(), &CureSearch::changed, this, later);
    refresh();
}

void FrontPlot::refresh()
{
    const CureSearch& search = m_workspace.cureSearch();
    const std::vector<Trial>& trials = search.state().trials;
    QVector<double> missedX, missedY, reachedX, reachedY, frontX, frontY;
    m_order.clear();
    for (std::size_t i = 0; i < trials.size(); ++i) {
        (trials[i].reached ? reachedX : missedX) << across(trials[i]);
        (trials[i].reached ? reachedY : missedY) << upwards(trials[i]);
        m_order.push_back(int(i));
    }
    std::stable_sort(m_order.begin(), m_order.end(), [&](int a, int b) {
        const Trial& one = trials[std::size_t(a)];
        const Trial& other = trials[std::size_t(b)];
        return std::pair(across(one), upwards(one)) < std::pair(across(other), upwards(other));
    });
    for (const std::size_t i : tuneFront(trials)) {
        frontX << across(trials[i]);
        frontY << upwards(trials[i]);
    }
    m_missed->setData(missedX, missedY);
    m_reached->setData(reachedX, reachedY);
    m_front->setData(frontX, frontY);
    m_shown = int(trials.size());
    const bool any = m_shown > 0;
    showAxes(any);
    m_ring->setVisible(any);
    if (any)
        m_ring->position->setCoords(across(*search.best()), upwards(*search.best()));
    const TuneGoal& goal = search.request().goal;
    const bool isDrawn = any && tellsNoise(goal);
    m_goal->setVisible(isDrawn);
    m_goalText->setVisible(isDrawn);
    m_least->setVisible(any);
    if (isDrawn) {
        m_goal->point1->setCoords(0, aimedDb(goal));
        m_goal->point2->setCoords(1, aimedDb(goal));
        m_goalText->setText(tr("goal %1").arg(goalWords(goal)));
        m_goalText->position->setCoords(0, aimedDb(goal));
    }
    const double least = 100 * search.request().keepInt8;
    m_least->point1->setCoords(least, 0);
    m_least->point2->setCoords(least, 1);
    setRanges();
    setCurrent(std::min(m_current, m_shown - 1));
    replot();
}

void FrontPlot::setRanges()
{
    const CureSearch& search = m_workspace.cureSearch();
    const auto& trials = search.state().trials;
    if (trials.empty())
        return;
    double left = std::min(100 * search.request().keepInt8, 99.0);
    const TuneGoal& goal = search.request().goal;
    double lowest = tellsNoise(goal) ? aimedDb(goal) : upwards(trials.front()), highest = lowest;
    for (const Trial& trial : trials) {
        left = std::min(left, across(trial));
        lowest = std::min(lowest, upwards(trial));
        highest = std::max(highest, upwards(trial));
    }
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

QPoint FrontPlot::dotPosition(int trial) const
{
    const Trial& shown = m_workspace.cureSearch().state().trials[std::size_t(trial)];
    const QPointF place(m_plot->xAxis->coordToPixel(across(shown)),
                        m_plot->yAxis->coordToPixel(upwards(shown)));
    return m_plot->mapTo(this, place.toPoint());
}

int FrontPlot::dotAt(const QPointF& point) const
{
    int nearest = -1;
    double least = kReach * kReach;
    const auto& trials = m_workspace.cureSearch().state().trials;
    for (int i = 0; i < m_shown; ++i) {
        const QPointF way = point - QPointF(m_plot->mapFrom(this, dotPosition(i)));
        const double distance = QPointF::dotProduct(way, way);
        if (distance <= least && std::size_t(i) < trials.size()) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}

bool FrontPlot::moveByKey(int key)
{
    const int last = int(m_order.size()) - 1;
    const auto now = std::find(m_order.begin(), m_order.end(), m_current);
    const int place = now == m_order.end() ? -1 : int(now - m_order.begin());
    int next = 0;
    switch (key) {
    case Qt::Key_Left:
        next = place < 0 ? last : std::max(0, place - 1);
        break;
    case Qt::Key_Right:
        next = std::min(last, place + 1);
        break;
    case Qt::Key_Home:
        next = 0;
        break;
    case Qt::Key_End:
        next = last;
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current >= 0)
            m_workspace.cureSearch().take(std::size_t(m_current));
        return true;
    default:
        return false;
    }
    if (next >= 0 && next <= last) {
        setCurrent(m_order[std::size_t(next)]);
        replot();
    }
    return true;
}

bool FrontPlot::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_plot)
        return PlotPage::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::KeyPress:
        return moveByKey(static_cast<QKeyEvent*>(event)->key());
    case QEvent::MouseMove: {
        const int dot = dotAt(static_cast<QMouseEvent*>(event)->position());
        m_plot->setCursor(dot >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
        if (dot >= 0 && dot != m_current) {
            setCurrent(dot);
            replot();
        }
        return false;
    }
    case QEvent::MouseButtonPress: {
        const auto* press = static_cast<QMouseEvent*>(event);
        const int dot = dotAt(press->position());
        if (press->button() != Qt::LeftButton || dot < 0)
            return false;
        setCurrent(dot);
        m_workspace.cureSearch().take(std::size_t(dot));
        return true;
    }
    default:
        return PlotPage::eventFilter(watched, event);
    }
}

} // namespace qs

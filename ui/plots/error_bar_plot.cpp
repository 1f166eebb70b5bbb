// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/error_bar_plot.h"

#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/session/worst_nodes.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <QLabel>
#include <QMouseEvent>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace qs {

namespace {

constexpr int kBuckets = 12;
constexpr double kFoot = 65; ///< SQNR in dB at the foot of the bars, unless a node is better

} // namespace

ErrorBarPlot::ErrorBarPlot(Workspace& workspace, QWidget* parent)
    : PlotPage(workspace, QStringLiteral("errorBarPlot"), parent)
{
    for (int i = 0; i < kBuckets; ++i) {
        auto* bars = new QCPBars(m_plot->xAxis, m_plot->yAxis);
        bars->setPen(Qt::NoPen);
        bars->setBrush(cividis(double(i) / (kBuckets - 1)));
        bars->setWidth(0.78);
        m_buckets.push_back(bars);
    }
    m_plot->addLayer(QStringLiteral("selected"), m_plot->layer(QStringLiteral("main")));
    m_overlay = m_plot->layer(QStringLiteral("selected"));
    m_overlay->setMode(QCPLayer::lmBuffered);
    m_selected = new QCPBars(m_plot->xAxis, m_plot->yAxis);
    m_selected->setLayer(m_overlay);
    m_selected->setPen(QPen(theme().accent, 2));
    m_selected->setBrush(Qt::NoBrush);
    m_selected->setWidth(0.9);
    m_line = m_plot->addGraph();
    m_line->setPen(QPen(theme().danger, 1.5));
    m_line->setAntialiased(true);
    m_label = new QCPItemText(m_plot);
    m_label->setLayer(m_overlay);
    m_label->setFont(uiFont(10.5));
    m_label->setColor(theme().text);
    m_label->setTextAlignment(Qt::AlignLeft);
    m_label->setPadding(QMargins(7, 3, 7, 3));
    QColor backing = theme().panel;
    backing.setAlphaF(0.86f);
    m_label->setBrush(backing);
    m_label->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_label->position->setTypeX(QCPItemPosition::ptAbsolute);
    m_label->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_plot->installEventFilter(this);
    connect(m_plot, &QCustomPlot::afterLayout, this, &ErrorBarPlot::placeLabel);
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.selection(), &Selection::changed, this,
            later.unlessDue([this] { showSelection(); }));
    refresh();
}

double ErrorBarPlot::height(double sqnr) const
{
    return std::max(m_foot - sqnr, 0.4);
}

void ErrorBarPlot::refresh()
{
    const auto& facts = m_workspace.facts();
    const auto& comparison = facts.comparison();
    m_nodes.clear();
    m_born.clear();
    QVector<double> lineX, lineY;
    std::vector<QVector<double>> x(kBuckets), y(kBuckets);
    const auto [best, worst] = facts.sqnrRange(ErrorTerm::BornHere);
    double lowest = 20;
    if (comparison && facts.model()) {
        for (const auto& error : comparison->nodes) {
            const bool born = error.bornHere && error.bornHere->sqnrDb;
            const bool cumulative = error.cumulative && error.cumulative->sqnrDb;
            if ((!born && !cumulative) || !facts.model()->tryGet(error.node))
                continue;
            const double at = double(m_nodes.size());
            m_nodes.push_back(error.node);
            m_born.push_back(born ? *error.bornHere->sqnrDb
                                  : std::numeric_limits<double>::quiet_NaN());
            if (born) {
                const double sqnr = *error.bornHere->sqnrDb;
                const double badness = std::clamp((best - sqnr) / (best - worst), 0.0, 1.0);
                const auto bucket = std::size_t(std::lround(badness * (kBuckets - 1)));
                x[bucket] << at;
                y[bucket] << sqnr;
                lowest = std::min(lowest, sqnr);
            }
            if (cumulative) {
                lineX << at;
                lineY << *error.cumulative->sqnrDb;
                lowest = std::min(lowest, *error.cumulative->sqnrDb);
            }
        }
    }
    const bool any = !m_nodes.empty();
    m_foot = std::max(kFoot, 5 + std::max(best, facts.sqnrRange(ErrorTerm::Cumulative).first));
    for (std::size_t b = 0; b < m_buckets.size(); ++b) {
        for (auto& value : y[b])
            value = height(value);
        m_buckets[b]->setData(x[b], y[b], true);
        QColor fill = cividis(double(b) / (kBuckets - 1));
        if (facts.errorsStale())
            fill.setAlphaF(0.35f);
        m_buckets[b]->setBrush(fill);
    }
    for (auto& value : lineY)
        value = height(value);
    m_line->setData(lineX, lineY, true);
    showAxes(any);
    m_empty->setText(tr("Compare to see the error of every layer"));
    m_caption->setText(any ? tr("SQNR · bars: born here, line: cumulative%1")
                                 .arg(facts.errorsStale() ? tr(" · stale")
                                          : facts.shownRun()
                                          ? QStringLiteral(" · %1").arg(facts.shownRun()->title())
                                          : QString())
                           : tr("Errors"));
    if (any) {
        auto levels = QSharedPointer<QCPAxisTickerText>::create();
        const int step = m_foot - lowest > 120 ? 40 : 20;
        for (int db = int(m_foot) / step * step; db > lowest - step / 2.0; db -= step)
            levels->addTick(m_foot - db, QStringLiteral("%1 dB").arg(db));
        m_plot->yAxis->setTicker(levels);
        m_highest = m_foot - lowest;
        leaveHeadroom();
        auto ends = QSharedPointer<QCPAxisTickerText>::create();
        ends->addTick(0, facts.title(m_nodes.front()));
        if (m_nodes.size() > 3)
            ends->addTick(double(m_nodes.size()) - 1, facts.title(m_nodes.back()));
        m_plot->xAxis->setTicker(ends);
        m_plot->xAxis->setRange(-1.2, double(m_nodes.size()) + 0.2);
    }
    fillSelection();
    replot();
}

void ErrorBarPlot::showSelection()
{
    fillSelection();
    placeLabel();
    replot(*m_overlay);
}

/// Marks the selected bars and sets the label above a single one.
void ErrorBarPlot::fillSelection()
{
    const auto& facts = m_workspace.facts();
    const auto& nodes = m_workspace.selection().nodes();
    const std::unordered_set<NodeId> selected(nodes.begin(), nodes.end());
    QVector<double> x, y;
    int labelled = -1;
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        if (!selected.contains(m_nodes[i]))
            continue;
        x << double(i);
        y << (std::isnan(m_born[i]) ? 1 : height(m_born[i]));
        labelled = int(i);
    }
    m_selected->setData(x, y, true);
    const bool one = x.size() == 1;
    m_label->setVisible(one);
    if (one) {
        const auto& error = *facts.error(m_nodes[std::size_t(labelled)]);
        QString text = facts.title(m_nodes[std::size_t(labelled)]);
        QStringList terms;
        if (error.bornHere && error.bornHere->sqnrDb)
            terms << tr("born here %1").arg(shownSqnr(*error.bornHere->sqnrDb));
        if (error.cumulative && error.cumulative->sqnrDb)
            terms << tr("cumulative %1").arg(shownSqnr(*error.cumulative->sqnrDb));
        if (!terms.isEmpty())
            text += QLatin1Char('\n') + terms.join(QStringLiteral(", "));
        m_words = text;
        m_label->setText(text);
        m_labelled = labelled;
    }
}

/// Leaves room for the label above the highest bar.
void ErrorBarPlot::leaveHeadroom()
{
    m_plot->yAxis->setRange(0, m_highest / (1 - headroomShare(*m_plot)));
}

/// Places the label above its bar, within the sides of the plot.
void ErrorBarPlot::placeLabel()
{
    if (!m_label->visible())
        return;
    const auto padding = m_label->padding();
    const QFontMetricsF metrics(m_label->font());
    const double most = m_plot->axisRect()->width() - padding.left() - padding.right() - 4;
    double widest = 0;
    QStringList lines;
    for (const QString& line : m_words.split(QLatin1Char('\n'))) {
        lines << metrics.elidedText(line, Qt::ElideRight, most);
        widest = std::max(widest, metrics.horizontalAdvance(lines.back()));
    }
    m_label->setText(lines.join(QLatin1Char('\n')));
    const double width = widest + padding.left() + padding.right() + 2;
    const QRect room = m_plot->axisRect()->rect();
    const double left
        = std::clamp(m_plot->xAxis->coordToPixel(m_labelled) - width / 2, double(room.left()),
                     std::max(double(room.left()), room.right() - width));
    m_label->position->setCoords(left, 0);
}

QPoint ErrorBarPlot::barPosition(int index) const
{
    const double x = m_plot->xAxis->coordToPixel(index);
    const double y = m_plot->yAxis->coordToPixel(0) - 3;
    return m_plot->mapTo(this, QPointF(x, y).toPoint());
}

double ErrorBarPlot::barHeight(int index) const
{
    const double born = m_born[std::size_t(index)];
    return std::isnan(born)
        ? 0
        : m_plot->yAxis->coordToPixel(0) - m_plot->yAxis->coordToPixel(height(born));
}

bool ErrorBarPlot::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_plot && event->type() == QEvent::MouseButtonPress && !m_nodes.empty()) {
        const auto* mouse = static_cast<QMouseEvent*>(event);
        const double x = m_plot->xAxis->pixelToCoord(mouse->position().x());
        const auto index = std::clamp<qint64>(std::llround(x), 0, qint64(m_nodes.size()) - 1);
        m_workspace.selectNode(m_nodes[std::size_t(index)]);
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace qs

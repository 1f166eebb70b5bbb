// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/training_plot.h"

#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <QLabel>

#include <algorithm>
#include <cmath>

namespace qs {

TrainingPlot::TrainingPlot(Workspace& workspace, QWidget* parent)
    : PlotPage(workspace, QStringLiteral("trainingPlot"), parent)
{
    const Theme& t = theme();
    styleAxis(*m_plot->yAxis2, false);
    m_plot->yAxis->setNumberFormat(QStringLiteral("f"));
    m_plot->yAxis2->grid()->setVisible(false);
    m_plot->axisRect()->setAutoMargins(QCP::msLeft | QCP::msBottom | QCP::msRight);
    m_loss = m_plot->addGraph(m_plot->xAxis, m_plot->yAxis2);
    m_loss->setPen(QPen(t.muted, 1.5, Qt::DashLine));
    m_loss->setAntialiased(true);
    m_guard = m_plot->addGraph();
    m_guard->setPen(QPen(t.accent, 2));
    m_guard->setAntialiased(true);
    m_guard->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, t.accent, px(4)));
    m_mark = new QCPItemTracer(m_plot);
    m_mark->setStyle(QCPItemTracer::tsCircle);
    m_mark->setPen(QPen(t.text, 2));
    m_mark->setBrush(t.accent);
    m_mark->setSize(px(10));
    m_label = new QCPItemText(m_plot);
    m_label->setFont(uiFont(10.5, 600));
    m_label->setColor(t.text);
    m_label->setPadding(QMargins(6, 2, 6, 2));
    QColor backing = t.panel;
    backing.setAlphaF(0.86f);
    m_label->setBrush(backing);
    connect(&workspace.trainer(), &ModelTrainer::changed, this, &TrainingPlot::refresh);
    refresh();
}

int TrainingPlot::pointCount() const
{
    return m_shown;
}

void TrainingPlot::refresh()
{
    const Training& training = m_workspace.trainer().training();
    if (m_shown == int(training.points.size()))
        return;
    m_shown = int(training.points.size());
    QVector<double> steps, decibels, lossSteps, losses;
    for (const TrainingPoint& point : training.points) {
        if (point.guardDb) {
            steps << point.step;
            decibels << *point.guardDb;
        }
        if (point.step > 0) {
            lossSteps << point.step;
            losses << point.loss;
        }
    }
    m_guard->setData(steps, decibels, true);
    m_loss->setData(lossSteps, losses, true);
    const bool any = m_shown > 0;
    showAxes(any);
    m_plot->yAxis->setVisible(!steps.isEmpty());
    m_plot->yAxis2->setVisible(!losses.isEmpty());
    m_empty->setText(tr("The guard's SQNR and the loss appear here while the training runs"));
    m_caption->setText(any ? tr("line: SQNR on the guard in dB, left · dashed: loss, right · "
                                "across: steps")
                           : tr("Training"));
    setRanges(training);
    placeBest(training);
    setAccessibleName(tr("Curve of the training"));
    setAccessibleDescription(any ? m_label->text() : m_empty->text());
    replot();
}

void TrainingPlot::setRanges(const Training& training)
{
    if (training.points.empty())
        return;
    const double steps = std::max(1, m_workspace.trainer().choices().training.steps);
    m_plot->xAxis->setRange(-0.015 * steps, 1.015 * steps); // with room for the points at the ends
    bool found = false;
    const QCPRange decibels = m_guard->getValueRange(found);
    m_lowest = found ? decibels.lower : 0;
    m_highest = found ? decibels.upper : 1;
    m_plot->yAxis->setNumberPrecision(m_highest - m_lowest < 2 ? 2 : 1);
    leaveHeadroom();
    const QCPRange losses = m_loss->getValueRange(found);
    if (found)
        m_plot->yAxis2->setRange(0, losses.upper * 1.25);
}

/// Leaves room for the label above the best point.
void TrainingPlot::leaveHeadroom()
{
    const double span = std::max(m_highest - m_lowest, 1.0);
    const double low = m_lowest - span * 0.1;
    const double share = std::min(0.4, headroomShare(*m_plot));
    m_plot->yAxis->setRange(low, low + (span * 1.1) / (1 - share));
}

void TrainingPlot::placeBest(const Training& training)
{
    const bool any = !training.points.empty() && training.points[training.best].guardDb;
    m_mark->setVisible(any);
    m_label->setVisible(any);
    m_best = any ? training.points[training.best].step : -1;
    if (!any)
        return;
    m_mark->setGraph(m_guard);
    m_mark->setGraphKey(m_best);
    m_label->setText(m_best == 0
                         ? tr("start: %1").arg(shownSqnr(*training.points[training.best].guardDb))
                         : tr("best: %1 at step %2")
                               .arg(shownSqnr(*training.points[training.best].guardDb))
                               .arg(m_best));
    // Within the sides of the plot.
    const double across
        = double(m_best) / std::max(1, m_workspace.trainer().choices().training.steps);
    const Qt::Alignment side = across < 0.25 ? Qt::AlignLeft
        : across > 0.75                      ? Qt::AlignRight
                                             : Qt::AlignHCenter;
    m_label->setPositionAlignment(side | Qt::AlignBottom);
    m_label->position->setType(QCPItemPosition::ptAbsolute);
    m_label->position->setParentAnchor(m_mark->position);
    m_label->position->setCoords(0, -px(9));
}

} // namespace qs

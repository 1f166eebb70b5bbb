// SPDX-License-Identifier: GPL-3.0-or-later
// HistogramPlot: trying another range, by mouse and keys; the histogram of a running calibration.
#include "ui/plots/custom_plot.h"
#include "ui/plots/histogram_plot.h"
#include "ui/plots/plot_style.h"
#include "ui/plots/range_bar.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"

#include <QComboBox>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kGrip = 8; ///< pixels around an end where it can be grabbed
constexpr double kSnap = 6; ///< pixels within which an end snaps to an alternative's
constexpr double kKeySteps = 200; ///< over the plot's width; ten times as many with Shift

/// The range of the histogram's observer so far.
std::optional<RangeAfter> rangeSoFar(const CalibrationSnapshot& snapshot)
{
    const auto& observers = snapshot.convergence->observers;
    for (std::size_t i = 0; i < observers.size(); ++i)
        if (observers[i].id == snapshot.asked && snapshot.running[i].batches > 0)
            return snapshot.running[i];
    return std::nullopt;
}

} // namespace

QPoint HistogramPlot::endPosition(int side) const
{
    return {int(std::lround(m_plot->xAxis->coordToPixel(m_trial.end(side)))),
            m_plot->axisRect()->center().y()};
}

double HistogramPlot::heldLine(int side) const
{
    return m_edge[side]->start->coords().x();
}

QString HistogramPlot::heldText() const
{
    return m_label->text();
}

QString HistogramPlot::chosenText() const
{
    return m_chosenLabel->text();
}

std::optional<HistogramPlot::Grip> HistogramPlot::endAt(double x) const
{
    std::optional<Grip> found;
    double nearest = kGrip;
    const auto consider = [&](const Grip& grip, double end) {
        const double off = std::abs(m_plot->xAxis->coordToPixel(end) - x);
        if (off < nearest) {
            nearest = off;
            found = grip;
        }
    };
    if (!m_labelled)
        return found;
    for (const int side : {1, 0}) {
        consider({side, false}, m_trial.end(side));
        if (m_trial.holdsMore())
            consider({side, true}, m_trial.heldEnd(side));
    }
    return found;
}

std::vector<Alternative> HistogramPlot::snaps()
{
    std::vector<Alternative> out;
    const auto* found = m_labelled ? m_workspace.alternatives().ask(m_observer) : nullptr;
    if (!found)
        return out;
    // Only alternatives of the same dtype, scheme and integers: the others do not only move an end.
    for (const Alternative& one : *found)
        if (one.qparams.scale.size() == 1 && one.qparams.dtype == m_trial.qparams().dtype
            && one.qparams.qscheme == m_trial.qparams().qscheme
            && one.qparams.quantMin == m_trial.qparams().quantMin
            && one.qparams.quantMax == m_trial.qparams().quantMax)
            out.push_back(one);
    return out;
}

void HistogramPlot::snapTo(int index)
{
    const auto choices = snaps();
    if (index < 0 || std::size_t(index) >= choices.size())
        return;
    m_trial.take(choices[std::size_t(index)].qparams);
    showTrial();
}

void HistogramPlot::dragTo(double x, bool freely)
{
    double to = m_plot->xAxis->pixelToCoord(
        std::clamp(x, double(m_plot->axisRect()->left()), double(m_plot->axisRect()->right())));
    double nearest = kSnap;
    for (const Alternative& one : freely ? std::vector<Alternative>() : snaps()) {
        const ValueEnds ends = m_drag->isHeld ? heldEnds(one.qparams) : chosenEnds(one.qparams);
        const double end = m_drag->side == 0 ? ends.low : ends.high;
        const double off = std::abs(m_plot->xAxis->coordToPixel(end) - x);
        if (off < nearest) {
            nearest = off;
            to = end;
        }
    }
    if (m_drag->isHeld)
        m_trial.moveHeld(m_drag->side, to);
    else
        m_trial.move(m_drag->side, to);
    showTrial();
}

bool HistogramPlot::moveByKey(int key, bool finely)
{
    const QCPRange shown = m_plot->xAxis->range();
    const double step = shown.size() / (finely ? 10 * kKeySteps : kKeySteps);
    switch (key) {
    case Qt::Key_Home:
    case Qt::Key_End:
        m_side = key == Qt::Key_End;
        return true;
    case Qt::Key_Left:
    case Qt::Key_Right:
        m_trial.move(m_side, m_trial.end(m_side) + (key == Qt::Key_Left ? -step : step));
        showTrial();
        return true;
    case Qt::Key_S: {
        auto* box = m_bar->findChild<QComboBox*>();
        if (const int count = box->count() - 1; count > 0) {
            box->setCurrentIndex(box->currentIndex() % count + 1);
            snapTo(box->currentIndex() - 1);
        }
        return true;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
        applyTrial();
        return true;
    case Qt::Key_Escape:
        putBack();
        return true;
    default:
        return false;
    }
}

void HistogramPlot::putBack()
{
    m_asking->stop();
    m_workspace.live().stopTrying();
    m_trial = {};
    m_drag.reset();
    refresh();
}

std::optional<RecipeStep> HistogramPlot::trialStep() const
{
    const auto& selection = m_workspace.selection();
    if (!m_trial.isMoved() || selection.interior())
        return std::nullopt;
    SpecTarget target;
    if (const auto edge = inspectedEdge(m_workspace)) {
        target.edge = *edge;
    } else {
        target.kind = SpecTarget::Kind::Value;
        target.node = m_workspace.facts().last(selection.current());
    }
    return specStep(m_workspace, target, m_trial.fixedSpec(), QStringLiteral("fixed_range"));
}

void HistogramPlot::applyTrial()
{
    if (auto step = trialStep())
        m_workspace.change(step->text, std::move(step->recipe));
}

void HistogramPlot::askEffect()
{
    if (const auto step = trialStep())
        m_workspace.live().tryRecipe(step->recipe);
}

void HistogramPlot::showEffect()
{
    const PreviewPtr& trial = m_workspace.live().trial();
    const auto db = trial ? trial->outputDb() : std::nullopt;
    if (!m_trial.isMoved() || !db) {
        m_bar->showEffect({});
        return;
    }
    QString text = tr("output %1").arg(shownSqnr(*db));
    const PreviewPtr& now = m_workspace.live().trialBefore();
    if (const auto was = now ? now->outputDb() : std::nullopt)
        text += tr(" (now %1)").arg(shownSqnr(*was, ""));
    m_bar->showEffect(QStringLiteral("%1 · %2").arg(text, previewText(*trial)));
}

bool HistogramPlot::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_plot || !m_labelled)
        return PlotPage::eventFilter(watched, event);
    switch (event->type()) {
    case QEvent::ShortcutOverride: {
        // Shortcuts of the window that apply to the range here.
        const int key = static_cast<QKeyEvent*>(event)->key();
        if ((key == Qt::Key_Escape && m_trial.isMoved()) || key == Qt::Key_S)
            event->accept();
        return event->isAccepted();
    }
    case QEvent::KeyPress: {
        auto* press = static_cast<QKeyEvent*>(event);
        return moveByKey(press->key(), press->modifiers() & Qt::ShiftModifier);
    }
    case QEvent::MouseButtonPress: {
        auto* press = static_cast<QMouseEvent*>(event);
        const auto grip = endAt(press->position().x());
        if (press->button() != Qt::LeftButton || !grip)
            return false;
        m_drag = grip;
        m_side = grip->side;
        m_plot->setFocus(Qt::MouseFocusReason);
        return true;
    }
    case QEvent::MouseMove: {
        auto* move = static_cast<QMouseEvent*>(event);
        const double x = move->position().x();
        if (m_drag) {
            dragTo(x, move->modifiers() & Qt::ShiftModifier);
            return true;
        }
        m_plot->setCursor(endAt(x) ? Qt::SplitHCursor : Qt::ArrowCursor);
        return false;
    }
    case QEvent::MouseButtonRelease:
        if (!m_drag)
            return false;
        m_drag.reset();
        return true;
    default:
        return PlotPage::eventFilter(watched, event);
    }
}

bool HistogramPlot::isLive(ObserverId observer) const
{
    const LiveCalibration& live = m_workspace.calibrating();
    return live.isRunning() && observer && !m_trial.isMoved();
}

void HistogramPlot::showLive(const QString& what)
{
    const SnapshotPtr& snapshot = m_workspace.calibrating().snapshot();
    const bool isOfPlan = snapshot && snapshot->plan == m_workspace.document().plan();
    const bool any = isOfPlan && snapshot->asked == m_observer && !snapshot->histogram.empty()
        && snapshot->histogram.max > snapshot->histogram.min;
    m_snapshot = any ? snapshot : nullptr;
    m_bar->setVisible(false);
    m_kept->setVisible(any);
    m_beyond->setVisible(any);
    m_steps->setVisible(false);
    m_label->setVisible(false);
    m_chosenLabel->setVisible(false);
    showAxes(any);
    m_footer->setVisible(any);
    m_caption->setText(
        !snapshot
            ? what
            : tr("%1 · batch %2 of %3").arg(what).arg(snapshot->batches).arg(snapshot->allBatches));
    if (!any) {
        m_empty->setText(snapshot && snapshot->asked == m_observer
                             ? tr("This calibration observes other values")
                             : tr("The histogram appears after the next batch"));
        replot();
        return;
    }
    m_histogram = &m_snapshot->histogram;
    m_caption->setText(m_caption->text()
                       + tr(" · %1 values").arg(countText(double(snapshot->count))));
    m_footerText = tr("calibrating");
    if (const auto range = rangeSoFar(*snapshot))
        m_footerText = tr("range so far %1 … %2")
                           .arg(QString::number(double(range->low), 'g', 3),
                                QString::number(double(range->high), 'g', 3));
    m_footer->setText(m_footerText);
    m_footer->setToolTip(m_footerText);
    showTrial();
}

} // namespace qs

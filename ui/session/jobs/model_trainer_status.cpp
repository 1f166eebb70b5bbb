// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/text.h"
#include "engine/edit/cures/model_cures.h"
#include "ui/session/jobs/model_trainer.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <QFileInfo>

#include <algorithm>

namespace qs {

namespace {

bool hasGuard(const Training& training)
{
    return !training.points.empty() && training.points.front().guardDb
        && training.points[training.best].guardDb;
}

/// Returns "34.2 to 36.1 dB".
QString decibelsText(const Training& training)
{
    return QObject::tr("%1 to %2")
        .arg(shownSqnr(*training.points.front().guardDb, ""),
             shownSqnr(*training.points[training.best].guardDb));
}

QString guardText(const Training& training)
{
    return toQString(counted(training.guardSamples, "guard sample"));
}

/// The gain for a narrow button, which drops the second part if it does not fit.
QString shortGainText(const Training& training)
{
    return hasGuard(training)
        ? QStringLiteral("%1 · %2").arg(decibelsText(training), guardText(training))
        : gainText(training);
}

} // namespace

bool isGain(const Training& training)
{
    return !training.points.empty() && training.points[training.best].step > 0;
}

QString gainText(const Training& training)
{
    if (!hasGuard(training))
        return toQString(counted(training.steps, "step"));
    return QObject::tr("%1 on %2").arg(decibelsText(training), guardText(training));
}

QString ModelTrainer::progressText() const
{
    if (!m_phase.isEmpty())
        return m_phase;
    const TrainingSettings& wanted = m_choices.training;
    QStringList parts {tr("step %1 of %2").arg(m_step).arg(wanted.steps)};
    const double seconds = m_clock.isValid() ? double(m_clock.elapsed()) / 1000 : 0;
    const int steps = m_step - m_firstStep;
    if (seconds >= 0.5 && steps > 0) {
        const double rate = steps / seconds;
        parts << tr("%1 steps/s").arg(rate, 0, 'f', rate < 10 ? 1 : 0);
        double left = (wanted.steps - m_step) / rate;
        if (wanted.seconds)
            left = std::min(left, *wanted.seconds - seconds);
        if (left >= 1)
            parts << tr("%1 left").arg(toQString(durationText(left)));
    }
    return parts.join(QStringLiteral(" · "));
}

bool ModelTrainer::isPlannedForTraining() const
{
    const PlanPtr& plan = m_workspace.document().plan();
    if (plan != m_checkedPlan) {
        m_checkedPlan = plan;
        m_isPlanned
            = plan && std::any_of(plan->nodes.begin(), plan->nodes.end(), [](const NodePlan& node) {
                  return node.quantized && node.qconfig && isForTraining(*node.qconfig);
              });
    }
    return m_isPlanned;
}

bool ModelTrainer::isPartOfPipeline() const
{
    return m_isRunning || trainingOf(m_workspace.document().recipe()) || isPlannedForTraining();
}

StageStatus ModelTrainer::status() const
{
    using State = StageStatus::State;
    if (m_isRunning)
        return {State::Running, progressText(), m_fraction};
    if (m_hasFailed)
        return {State::Failed, tr("failed"), 0};
    const Cure* cure = trainingOf(m_workspace.document().recipe());
    if (!cure)
        return {State::Waiting, tr("weights for int8"), 0};
    const QString file = QFileInfo(toQString(cure->file)).fileName();
    if (cure->off)
        return {State::Waiting, tr("%1, off").arg(file), 0};
    if (isGain(m_training) && cure->file == m_choices.file.toStdString())
        return {State::Done, shortGainText(m_training), 0};
    return {State::Done, file, 0};
}

} // namespace qs

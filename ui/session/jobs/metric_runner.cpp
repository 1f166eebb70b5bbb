// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/metric_runner.h"

#include "ui/session/jobs/conversion_wait.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

namespace qs {

namespace {

const QString kMetricTag = QStringLiteral("metric");

} // namespace

MetricRunner::MetricRunner(Workspace& workspace)
    : QObject(&workspace)
    , m_workspace(workspace)
    , m_wait(new ConversionWait(workspace, kMetricTag, this))
{
    connect(&workspace.document(), &Document::resultsChanged, this, &MetricRunner::changed);
    connect(m_wait, &ConversionWait::ready, this, &MetricRunner::run);
    connect(m_wait, &ConversionWait::ended, this, &MetricRunner::changed);
}

void MetricRunner::setCommand(const QString& command)
{
    if (command.trimmed() == m_command)
        return;
    m_command = command.trimmed();
    m_problem.clear();
    Q_EMIT changed();
}

bool MetricRunner::canMeasure() const
{
    return !m_command.isEmpty() && m_workspace.document().calibration() && !isRunning();
}

bool MetricRunner::isRunning() const
{
    return m_wait->isBusy();
}

void MetricRunner::measure()
{
    if (!canMeasure())
        return;
    m_problem.clear();
    m_workspace.document().refreshKeys();
    m_wait->start();
    Q_EMIT changed();
}

void MetricRunner::cancel()
{
    m_wait->stop();
}

void MetricRunner::run()
{
    Pipeline& pipeline = m_workspace.pipeline();
    pipeline.jobs().run(
        Lane::Engine, kMetricTag,
        [engine = &pipeline.engine(), request = pipeline.compareRequest(),
         metric = commandMetric(m_command.toStdString())](JobContext& job) {
            return engine->evaluate(request, metric, job);
        },
        this,
        [this, keys = m_workspace.document().keys()](Result<Evaluation> made) {
            if (made) {
                m_workspace.document().setEvaluation(*made, keys);
                Q_EMIT measured();
            } else if (made.error().code != ErrorCode::Cancelled) {
                m_problem = toQString(made.error().line());
            }
            Q_EMIT changed();
        });
}

QString metricText(double value)
{
    return QString::number(value, 'g', 6);
}

} // namespace qs

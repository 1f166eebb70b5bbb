// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/job_runner.h"

#include <QElapsedTimer>
#include <QMetaObject>

namespace qs {

namespace {

constexpr qint64 kProgressIntervalMs = 34;

} // namespace

JobRunner::JobRunner(QObject* parent)
    : QObject(parent)
{
    m_engineLane.setMaxThreadCount(1);
    m_engineLane.setExpiryTimeout(-1);
    m_pool.setMaxThreadCount(2);
}

JobRunner::~JobRunner()
{
    cancelAll();
    m_engineLane.waitForDone();
    m_pool.waitForDone();
}

void JobRunner::cancel(const QString& tag)
{
    const auto it = m_running.find(tag);
    if (it != m_running.end())
        it->stop.request_stop();
}

void JobRunner::cancelAll()
{
    for (auto& running : m_running)
        running.stop.request_stop();
}

void JobRunner::start(Lane lane, const QString& tag, std::function<void(JobContext&)> work,
                      QObject* owner, std::function<void()> done)
{
    cancel(tag);
    const quint64 job = m_tracker.begin(tag);
    std::stop_source stop;
    m_running[tag] = {job, stop};

    auto task = [this, tag, job, stop, work = std::move(work), done = std::move(done),
                 owner = QPointer<QObject>(owner)]() mutable {
        QElapsedTimer sinceReport;
        JobContext context(stop.get_token(), [&](const Progress& progress) {
            if (sinceReport.isValid() && sinceReport.elapsed() < kProgressIntervalMs
                && progress.fraction < 1)
                return;
            sinceReport.start();
            QMetaObject::invokeMethod(
                this,
                [this, tag, job, progress] {
                    if (m_tracker.isCurrent(tag, job))
                        Q_EMIT progressed(tag, progress);
                },
                Qt::QueuedConnection);
        });
        work(context);
        // The job's own values go back to the GUI thread with the callback, so that nothing a
        // widget shares is destroyed here.
        QMetaObject::invokeMethod(
            this,
            [this, tag, job, owner, done = std::move(done), work = std::move(work)] {
                finish(tag, job, owner, done);
            },
            Qt::QueuedConnection);
    };
    auto& pool = lane == Lane::Engine ? m_engineLane : m_pool;
    Q_EMIT started(tag);
    pool.start(std::move(task));
}

void JobRunner::finish(const QString& tag, quint64 job, const QPointer<QObject>& owner,
                       const std::function<void()>& done)
{
    if (!m_tracker.isCurrent(tag, job))
        return;
    m_running.remove(tag);
    if (owner)
        done();
    Q_EMIT finished(tag);
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/job_runner.h"

#include <QElapsedTimer>

namespace qs {

namespace {

constexpr qint64 kProgressIntervalMs = 34;

} // namespace

/// Called after the lanes have ended. The lock orders their last use before the destruction.
JobRunner::Queue::~Queue()
{
    std::deque<std::function<void()>> left;
    const std::lock_guard lock(m_mutex);
    left.swap(m_calls);
}

void JobRunner::Queue::put(std::function<void()> call)
{
    const std::lock_guard lock(m_mutex);
    m_calls.push_back(std::move(call));
}

std::function<void()> JobRunner::Queue::take()
{
    const std::lock_guard lock(m_mutex);
    auto call = std::move(m_calls.front());
    m_calls.pop_front();
    return call;
}

JobRunner::JobRunner(QObject* parent)
    : QObject(parent)
{
    // One call per event: a callback may open a dialog, which must not delay later calls.
    connect(
        this, &JobRunner::arrived, this, [this] { m_back.take()(); }, Qt::QueuedConnection);
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

void JobRunner::sendBack(std::function<void()> call)
{
    m_back.put(std::move(call));
    Q_EMIT arrived();
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
            sendBack([this, tag, job, progress] {
                if (m_tracker.isCurrent(tag, job))
                    Q_EMIT progressed(tag, progress);
            });
        });
        work(context);
        // The callback takes `work` and `done` back to the GUI thread, so that values they share
        // with widgets are not destroyed here.
        sendBack([this, tag, job, owner, done = std::move(done), work = std::move(work)] {
            finish(tag, job, owner, done);
        });
    };
    const bool onEngine = lane == Lane::Engine;
    Q_EMIT started(tag);
    if (!onEngine) {
        m_poolQueue.put(std::move(task));
        m_pool.start([this] { m_poolQueue.take()(); });
        return;
    }
    m_engineQueue.put(std::move(task));
    ++m_engineWaiting;
    m_engineLane.start([this] {
        --m_engineWaiting;
        m_engineQueue.take()();
    });
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

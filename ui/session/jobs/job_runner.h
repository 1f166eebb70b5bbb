// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/job_context.h"
#include "ui/session/jobs/job_tracker.h"

#include <QObject>
#include <QPointer>
#include <QThreadPool>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

namespace qs {

/// Threads of a job: one engine thread for all work that runs operators, a pool for layout and
/// planning.
enum class Lane
{
    Engine,
    Pool
};

/// Runs work off the GUI thread. Each tag has one job: a newer job cancels the older, whose result
/// is dropped. The callback runs on the GUI thread, and only while its owner lives. Progress
/// arrives at most 30 times a second. The destructor cancels and waits. GUI thread only.
///
/// Work for a lane and its answer pass through a Queue, which has a mutex. Qt's event queue only
/// carries the wake-up, because the thread sanitizer cannot see the locks inside Qt's libraries.
class JobRunner : public QObject
{
    Q_OBJECT

public:
    explicit JobRunner(QObject* parent = nullptr);
    ~JobRunner() override;

    /// Starts `work(JobContext&)` on the lane; `done` receives its return value on the GUI thread.
    template<class Work, class Done>
    void run(Lane lane, const QString& tag, Work work, QObject* owner, Done done)
    {
        using T = std::invoke_result_t<Work, JobContext&>;
        auto slot = std::make_shared<std::unique_ptr<T>>();
        start(
            lane, tag,
            [slot, work = std::move(work)](JobContext& job) mutable {
                *slot = std::make_unique<T>(work(job));
            },
            owner, [slot, done = std::move(done)]() mutable { done(std::move(**slot)); });
    }
    void cancel(const QString& tag);
    void cancelAll();
    bool isRunning(const QString& tag) const { return m_running.contains(tag); }
    bool isIdle() const { return m_running.isEmpty(); }
    /// True if work waits for the engine's thread. Thread safe.
    bool isEngineWanted() const { return m_engineWaiting > 0; }

Q_SIGNALS:
    void started(const QString& tag);
    void progressed(const QString& tag, const qs::Progress& progress);
    /// Emitted after the callback of the newest job of the tag.
    void finished(const QString& tag);
    /// Emitted from any thread: a call was put into the queue of the GUI thread.
    void arrived();

private:
    /// Work that waits for its turn, first in, first out.
    class Queue
    {
    public:
        Queue() = default;
        ~Queue();
        Queue(const Queue&) = delete;
        Queue& operator=(const Queue&) = delete;

        void put(std::function<void()> call);
        std::function<void()> take(); ///< called once for every put()

    private:
        std::mutex m_mutex;
        std::deque<std::function<void()>> m_calls;
    };
    void sendBack(std::function<void()> call);
    void start(Lane lane, const QString& tag, std::function<void(JobContext&)> work, QObject* owner,
               std::function<void()> done);
    void finish(const QString& tag, quint64 job, const QPointer<QObject>& owner,
                const std::function<void()>& done);

    struct Running
    {
        quint64 job = 0;
        std::stop_source stop;
    };
    JobTracker m_tracker;
    QHash<QString, Running> m_running;
    Queue m_back; ///< for the GUI thread
    Queue m_engineQueue, m_poolQueue;
    std::atomic<int> m_engineWaiting = 0; ///< jobs in `m_engineQueue`
    QThreadPool m_engineLane;
    QThreadPool m_pool;
};

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "app/commands/job_watch.h"

#include "app/commands/text/console.h"
#include "engine/base/text.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace qs {

struct JobWatch::State
{
    std::stop_source stop;
    std::chrono::milliseconds time {0}; ///< the limit; 0 = none
    std::atomic<bool> late = false;
    std::mutex mutex;
    std::string at;

    std::string lateText() const
    {
        return "not done within the " + numberText(double(time.count()) / 1000) + " s of --timeout";
    }

    void wait(const sigset_t& signals)
    {
        using Clock = std::chrono::steady_clock;
        constexpr std::chrono::seconds kGrace {5}; ///< a single operator cannot be interrupted
        auto end = Clock::now() + time;
        for (bool asked = false;; asked = true) {
            const int number = time.count() > 0 ? signalUntil(signals, end) : signal(signals);
            if (number > 0 && asked)
                std::_Exit(128 + number);
            if (number == 0 && asked)
                give(lateText());
            late = late || number == 0;
            stop.request_stop();
            end = late ? Clock::now() + kGrace : Clock::time_point::max();
        }
    }

    static int signal(const sigset_t& signals)
    {
        int number = 0;
        sigwait(&signals, &number);
        return number;
    }

    /// Returns the signal that arrives before `end`; 0 if none does.
    static int signalUntil(const sigset_t& signals, std::chrono::steady_clock::time_point end)
    {
        for (;;) {
            const auto left
                = std::max(std::chrono::nanoseconds(0),
                           std::chrono::nanoseconds(end - std::chrono::steady_clock::now()));
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
            const timespec span {seconds.count(), long((left - seconds).count())};
            const int number = sigtimedwait(&signals, nullptr, &span);
            if (number > 0)
                return number;
            if (errno == EAGAIN)
                return 0;
        }
    }

    [[noreturn]] void give(const std::string& text)
    {
        const std::lock_guard lock(mutex);
        std::fprintf(stderr, "%squantscope: %s: at work on %s\n",
                     isatty(STDERR_FILENO) ? "\r\033[K" : "", text.c_str(), asOneLine(at).c_str());
        std::_Exit(1);
    }
};

/// Blocks the signals in every thread and waits for them in one, so that the cancel runs as
/// ordinary code.
JobWatch::JobWatch(std::stop_source stop, std::chrono::milliseconds time)
    : m_state(std::make_shared<State>())
{
    m_state->stop = std::move(stop);
    m_state->time = time;
    static sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([state = m_state] { state->wait(signals); }).detach();
}

void JobWatch::progress(const Progress& progress) const
{
    {
        const std::lock_guard lock(m_state->mutex);
        m_state->at = progress.stage + ", " + progress.what;
    }
    showProgress(progress);
}

Error JobWatch::told(Error error) const
{
    if (error.code != ErrorCode::Cancelled)
        return error;
    if (!m_state->late) { // a user who cancels needs no place
        error.node.clear();
        error.file.clear();
        return error;
    }
    error.message = m_state->lateText();
    error.hint = "give it more time, or make sure that it ends";
    return error;
}

} // namespace qs

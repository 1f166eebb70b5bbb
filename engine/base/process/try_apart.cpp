// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/try_apart.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/base/process/trial_copies.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace qs {

namespace {

constexpr int kTick = 20; ///< milliseconds between checks for cancellation

/// The main program's connection to the process that forks the copies.
class Trials
{
public:
    ~Trials() { stop(); }

    /// Call while no other thread runs: a fork could copy a held lock.
    void start()
    {
        int ends[2] = {-1, -1};
        if (m_socket >= 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
            return;
        m_copier = fork();
        if (m_copier == 0) {
            close(ends[0]);
            makeCopies(ends[1]);
        }
        close(ends[1]);
        m_socket = ends[0];
    }

    /// Also ends a trial of another thread: does not wait for the lock.
    void stop()
    {
        if (m_copier <= 0)
            return;
        shutdown(m_socket, SHUT_RDWR);
        waitpid(std::exchange(m_copier, -1), nullptr, 0);
    }

    void prepare(const TrialRequest& request)
    {
        const std::lock_guard lock(m_mutex);
        (void)send(request);
    }

    Result<std::optional<TrialEnd>> run(const TrialRequest& request, const JobContext& job)
    {
        std::unique_lock lock(m_mutex, std::defer_lock);
        while (!lock.try_lock_for(std::chrono::milliseconds(kTick)))
            QS_CHECK(job.check());
        if (!send(request))
            return std::nullopt;
        Result<void> running;
        pollfd ready = {m_socket, POLLIN, 0};
        while (poll(&ready, 1, kTick) <= 0)
            if (running && !(running = job.check()))
                (void)send({}); // the answer follows soon
        TrialAnswer answer;
        const bool isAnswered = recv(m_socket, &answer, sizeof(answer), 0) > 0;
        QS_CHECK(running);
        if (!isAnswered || !answer.copied) // or the process was killed externally
            return std::nullopt;
        return TrialEnd {answer.finished, answer.idle,   answer.noMemory,
                         answer.threw,    answer.signal, answer.error};
    }

private:
    bool send(const TrialRequest& request) const
    {
        const ssize_t size = offsetof(TrialRequest, words) + request.size;
        return ::send(m_socket, &request, std::size_t(size), MSG_NOSIGNAL) == size;
    }

    std::timed_mutex m_mutex;
    int m_socket = -1;
    pid_t m_copier = -1;
};

/// Builds the request. Fails (BadInput) if the words are too long.
Result<TrialRequest> requestOf(TrialBody body, const std::vector<std::string>& words,
                               const TrialLimits& limits)
{
    TrialRequest request {.body = body, .limits = limits, .memoryLimit = memoryLimit()};
    for (const std::string& word : words) {
        if (request.size + word.size() >= sizeof(request.words))
            return fail(ErrorCode::BadInput, "too long to be tried: '" + word + "'");
        word.copy(request.words + request.size, word.size());
        request.size += word.size() + 1;
    }
    return request;
}

Trials& trials()
{
    static Trials all;
    return all;
}

/// Returns the fault indicated by a trial's end; empty if none.
std::string meaning(const TrialEnd& end)
{
    if (end.noMemory)
        return " takes more memory than a model could need";
    if (end.threw)
        return " makes PyTorch's reader abort";
    switch (end.signal) {
    case 0:
        return "";
    case SIGFPE:
        return " divides by zero where PyTorch's reader computes constants";
    case SIGSEGV:
    case SIGBUS:
        return " is nested too deeply for PyTorch's reader, or calls an operator that crashes it";
    case SIGXCPU:
        return " keeps PyTorch's reader busy without end";
    default:
        return " makes PyTorch's reader abort";
    }
}

} // namespace

bool TrialEnd::crashed() const
{
    return signal != 0 && signal != SIGXCPU && signal != SIGKILL;
}

void startTrials()
{
    trials().start();
}

void stopTrials()
{
    trials().stop();
}

Result<std::optional<TrialEnd>> runApart(TrialBody body, const std::vector<std::string>& words,
                                         const TrialLimits& limits, const JobContext& job)
{
    QS_TRY(const TrialRequest request, requestOf(body, words, limits));
    return trials().run(request, job);
}

void prepareTrials(TrialBody body, const std::vector<std::string>& words)
{
    if (auto request = requestOf(body, words, {})) {
        request->stays = true;
        trials().prepare(*request);
    }
}

Result<void> tryApart(TrialBody body, const std::vector<std::string>& words,
                      const TrialLimits& limits, const std::string& what, const JobContext& job)
{
    QS_TRY(const std::optional<TrialEnd> end, runApart(body, words, limits, job));
    const std::string problem = end && !end->idle ? meaning(*end) : std::string();
    if (problem.empty())
        return {};
    return fail(makeError(ErrorCode::BadInput, what + problem)
                    .withHint("save the model again, or export it with torch.export"));
}

} // namespace qs

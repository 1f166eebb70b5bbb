// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/try_apart.h"

#include "engine/base/log.h"
#include "engine/base/memory/memory_budget.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace qs {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kFine = 0, kNoMemory = 3;
constexpr std::size_t kLongestError = 4000; ///< bytes, which a pipe takes without a reader
/// A copy that sleeps this long waits for a lock that another of our threads held at the fork; the
/// copy has no thread to release it. A later copy may not meet it. The last copy gets more time: it
/// may also wait for something else.
constexpr std::chrono::milliseconds kIdle {200}, kIdleAtLast {3000};
constexpr int kTries = 5;

std::int64_t virtualBytes()
{
    std::ifstream in("/proc/self/statm");
    std::int64_t pages = 0;
    in >> pages;
    return pages * sysconf(_SC_PAGESIZE);
}

void limit(__rlimit_resource resource, rlim_t most)
{
    rlimit now = {};
    if (getrlimit(resource, &now) == 0 && (now.rlim_cur == RLIM_INFINITY || now.rlim_cur > most)) {
        now.rlim_cur = most;
        (void)setrlimit(resource, &now);
    }
}

/// The copy's report of its end, through a pipe.
class Report
{
public:
    Report()
    {
        if (pipe2(m_ends, O_CLOEXEC | O_NONBLOCK) != 0)
            m_ends[0] = m_ends[1] = -1;
    }
    ~Report()
    {
        for (const int end : m_ends)
            if (end >= 0)
                close(end);
    }
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    void finished(const std::string& error) const { tell(kFinished, error); }
    void threw(const std::string& error) const { tell(kThrew, error); }
    void readInto(TrialEnd& end) const
    {
        std::string text(kLongestError + 1, '\0');
        const auto size = read(m_ends[0], text.data(), text.size());
        end.finished = size > 0 && text.front() == kFinished;
        end.threw = size > 0 && text.front() == kThrew;
        if (size > 1)
            end.error = text.substr(1, std::size_t(size) - 1);
    }

private:
    static constexpr char kFinished = '.', kThrew = '!';
    void tell(char how, const std::string& error) const
    {
        const std::string text = how + error.substr(0, kLongestError);
        (void)!write(m_ends[1], text.data(), text.size());
    }
    int m_ends[2] = {-1, -1};
};

const Report* reportOfChild = nullptr; ///< in the copy alone

/// Through a library's constructors, for one, no exception passes.
[[noreturn]] void tellException()
{
    std::string text = "an exception of no known kind";
    try {
        if (const auto thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        text = error.what();
    } catch (...) { // its text stands above
    }
    reportOfChild->threw(text);
    _exit(kFine);
}

[[noreturn]] void runChild(const std::function<Result<void>()>& body, const TrialLimits& limits,
                           const Report& report)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL, SIGXCPU})
        std::signal(number, SIG_DFL);
    limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_AS, rlim_t(virtualBytes() + limits.bytes));
#endif
    limit(RLIMIT_CPU, rlim_t(limits.seconds));
    // Large tensors lie among addresses that are taken already.
    const std::int64_t most = residentBytes() + limits.bytes;
    setMemoryLimit(memoryLimit() > 0 ? std::min(memoryLimit(), most) : most);
    setLogSink({});
    if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    reportOfChild = &report;
    std::set_terminate(tellException);
    int code = kFine;
    std::string error;
    try {
        const auto done = body();
        if (!done) {
            error = done.error().line();
            if (error.find("out of memory") != std::string::npos
                || error.find("allocate") != std::string::npos)
                code = kNoMemory;
        }
    } catch (const std::bad_alloc&) {
        code = kNoMemory;
    } catch (const std::exception& thrown) { // the caller runs it again and reports it
        error = thrown.what();
    }
    report.finished(error);
    _exit(code);
}

std::int64_t processorNanoseconds(pid_t child)
{
    clockid_t clock = 0;
    timespec time = {};
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Whether it is neither running nor able to, nor reading from a disk.
bool sleeps(pid_t child)
{
    std::ifstream in("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(in, text);
    const auto name = text.rfind(')'); // which may hold anything
    return name != std::string::npos && name + 2 < text.size() && text[name + 2] == 'S';
}

/// The fault that the end of a trial shows; empty without one.
std::string meaning(const TrialEnd& end)
{
    if (end.noMemory)
        return " takes more memory than a model could need";
    if (end.threw)
        return " makes PyTorch's reader give up";
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
        return " makes PyTorch's reader give up";
    }
}

} // namespace

namespace {

/// One copy.
Result<std::optional<TrialEnd>> tryOnce(const std::function<Result<void>()>& body,
                                        const TrialLimits& limits, std::chrono::milliseconds idle,
                                        const JobContext& job)
{
    const Report report;
    const pid_t child = fork();
    if (child < 0)
        return std::nullopt;
    if (child == 0)
        runChild(body, limits, report);
    int status = 0;
    TrialEnd end;
    std::int64_t used = 0;
    auto lastUsed = Clock::now();
    auto wait = std::chrono::milliseconds(1);
    const auto stop = [&] {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    };
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended < 0)
            return std::nullopt;
        if (ended == child)
            break;
        if (auto running = job.check(); !running) {
            stop();
            return fail(std::move(running).error());
        }
        const std::int64_t now = processorNanoseconds(child);
        if (now != used || !sleeps(child))
            lastUsed = Clock::now();
        used = now;
        if (Clock::now() - lastUsed > idle) {
            stop();
            end.idle = true;
            return end;
        }
        std::this_thread::sleep_for(wait);
        wait = std::min(wait * 2, std::chrono::milliseconds(20));
    }
    report.readInto(end);
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.noMemory = WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory;
    return end;
}

} // namespace

bool TrialEnd::crashed() const
{
    return signal != 0 && signal != SIGXCPU && signal != SIGKILL;
}

Result<std::optional<TrialEnd>> runApart(const std::function<Result<void>()>& body,
                                         const TrialLimits& limits, const JobContext& job)
{
    for (int tried = 1;; ++tried) {
        QS_TRY(const std::optional<TrialEnd> end,
               tryOnce(body, limits, tried < kTries ? kIdle : kIdleAtLast, job));
        if (!end || !end->idle || tried == kTries)
            return end;
    }
}

Result<void> tryApart(const std::function<Result<void>()>& body, const TrialLimits& limits,
                      const std::string& what, const JobContext& job)
{
    QS_TRY(const std::optional<TrialEnd> end, runApart(body, limits, job));
    const std::string problem = end && !end->idle ? meaning(*end) : std::string();
    if (problem.empty())
        return {};
    return fail(makeError(ErrorCode::BadInput, what + problem)
                    .withHint("save the model again, or export it with torch.export"));
}

} // namespace qs

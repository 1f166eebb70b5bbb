// SPDX-License-Identifier: Apache-2.0
#include "engine/base/try_apart.h"

#include "engine/base/log.h"

#include <chrono>
#include <csignal>
#include <ctime>
#include <exception>
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
constexpr std::chrono::seconds kIdle {3}; ///< no processor time for so long: it waits for a lock

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

[[noreturn]] void runChild(const std::function<Result<void>()>& body, const TrialLimits& limits)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL, SIGXCPU})
        std::signal(number, SIG_DFL);
    limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_AS, rlim_t(virtualBytes() + limits.bytes));
#endif
    limit(RLIMIT_CPU, rlim_t(limits.seconds));
    setLogSink({});
    int code = kFine;
    try {
        const auto done = body();
        if (!done
            && (done.error().message.find("out of memory") != std::string::npos
                || done.error().message.find("allocate") != std::string::npos))
            code = kNoMemory;
    } catch (const std::bad_alloc&) {
        code = kNoMemory;
    } catch (const std::exception&) { // it is thrown again where it can be told
    }
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

/// What the end of a trial means; empty where nothing is wrong.
const char* meaning(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status) == kNoMemory ? " takes more memory than a model could need" : "";
    switch (WTERMSIG(status)) {
    case SIGFPE:
        return " divides by zero where PyTorch's reader computes constants";
    case SIGSEGV:
    case SIGBUS:
        return " is nested too deeply for PyTorch's reader";
    case SIGXCPU:
        return " keeps PyTorch's reader busy without end";
    default:
        return " makes PyTorch's reader give up";
    }
}

} // namespace

Result<void> tryApart(const std::function<Result<void>()>& body, const TrialLimits& limits,
                      const std::string& what, const JobContext& job)
{
    const pid_t child = fork();
    if (child < 0)
        return {};
    if (child == 0)
        runChild(body, limits);
    int status = 0;
    std::int64_t used = 0;
    auto lastUsed = Clock::now();
    auto wait = std::chrono::milliseconds(1);
    const auto end = [&] {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    };
    for (;;) {
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended < 0)
            return {};
        if (ended == child)
            break;
        if (auto running = job.check(); !running) {
            end();
            return running;
        }
        const std::int64_t now = processorNanoseconds(child);
        if (now != used)
            lastUsed = Clock::now();
        used = now;
        if (Clock::now() - lastUsed > kIdle) {
            end();
            return {};
        }
        std::this_thread::sleep_for(wait);
        wait = std::min(wait * 2, std::chrono::milliseconds(20));
    }
    const std::string problem = meaning(status);
    if (problem.empty())
        return {};
    return fail(makeError(ErrorCode::BadInput, what + problem)
                    .withHint("save the model again, or export it with torch.export"));
}

} // namespace qs

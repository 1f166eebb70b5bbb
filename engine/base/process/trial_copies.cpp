// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/trial_copies.h"

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
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace qs {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kIdle {3}; ///< idle time after which a trial counts as hanging
constexpr unsigned kSecondsToPrepare = 120;

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

int reportPipe = -1; ///< set only in a copy

/// Sends the copy's answer and exits.
[[noreturn]] void endCopy(TrialAnswer answer, const std::string& error)
{
    error.copy(answer.error, sizeof(answer.error) - 1);
    (void)!write(reportPipe, &answer, sizeof(answer));
    _exit(0);
}

/// Terminate handler: reports uncatchable exceptions, such as those in a library's constructors.
[[noreturn]] void tellException()
{
    std::string text = "an exception of no known kind";
    try {
        if (const auto thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::exception& error) {
        text = error.what();
    } catch (...) { // the text is set above
    }
    endCopy({.threw = true}, text);
}

std::vector<std::string> wordsOf(const TrialRequest& request)
{
    std::vector<std::string> words;
    for (std::size_t at = 0; at < request.size; at += words.back().size() + 1)
        words.emplace_back(request.words + at);
    return words;
}

[[noreturn]] void runChild(const TrialRequest& request)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL, SIGXCPU})
        std::signal(number, SIG_DFL);
    limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_AS, rlim_t(virtualBytes() + request.limits.bytes));
#endif
    limit(RLIMIT_CPU, rlim_t(request.limits.seconds));
    // An address limit would not work: large tensors use already reserved addresses.
    const std::int64_t most = residentBytes() + request.limits.bytes;
    setMemoryLimit(request.memoryLimit > 0 ? std::min(request.memoryLimit, most) : most);
    std::set_terminate(tellException);
    TrialAnswer answer {.finished = true};
    std::string error;
    try {
        if (const auto done = request.body(wordsOf(request)); !done) {
            error = done.error().line();
            answer.noMemory = error.find("out of memory") != std::string::npos
                || error.find("allocate") != std::string::npos;
        }
    } catch (const std::bad_alloc&) {
        answer.noMemory = true;
    } catch (const std::exception& thrown) { // the caller reruns it and reports the error
        error = thrown.what();
    }
    endCopy(answer, error);
}

std::int64_t processorNanoseconds(pid_t child)
{
    clockid_t clock = 0;
    timespec time = {};
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return 0;
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// True if the process sleeps: it is neither runnable nor waiting for a disk.
bool sleeps(pid_t child)
{
    std::ifstream in("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(in, text);
    const auto name = text.rfind(')'); // the name may contain any characters
    return name != std::string::npos && name + 2 < text.size() && text[name + 2] == 'S';
}

/// Waits for the copy's end; kills it if it is idle or the socket requests it.
TrialAnswer awaitCopy(pid_t child, int report, int socket)
{
    TrialAnswer answer;
    int status = 0;
    std::int64_t used = 0;
    auto lastUsed = Clock::now();
    pollfd events[2] = {{report, POLLIN, 0}, {socket, POLLIN, 0}};
    while (waitpid(child, &status, WNOHANG) == 0) {
        poll(events, 2, events[0].fd < 0 ? 1 : 50);
        if (events[0].revents != 0)
            events[0].fd = -1; // it is about to exit
        const std::int64_t now = processorNanoseconds(child);
        if (now != used || !sleeps(child))
            lastUsed = Clock::now();
        used = now;
        answer.idle = Clock::now() - lastUsed > kIdle;
        if (!answer.idle && events[1].revents == 0)
            continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        TrialRequest end;
        if (events[1].revents != 0 && recv(socket, &end, sizeof(end), 0) <= 0)
            _exit(0); // the main program has ended
        return answer;
    }
    (void)!read(report, &answer, sizeof(answer));
    answer.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return answer;
}

TrialAnswer answerTo(const TrialRequest& request, int socket)
{
    int ends[2] = {-1, -1};
    const pid_t child = pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0 ? fork() : -1;
    if (child == 0) {
        close(socket);
        close(ends[0]);
        reportPipe = ends[1];
        runChild(request);
    }
    close(ends[1]);
    const auto answer
        = child < 0 ? TrialAnswer {.copied = false} : awaitCopy(child, ends[0], socket);
    close(ends[0]);
    return answer;
}

void prepareWith(const TrialRequest& request)
{
    alarm(kSecondsToPrepare);
    try {
        (void)request.body(wordsOf(request));
    } catch (const std::exception&) { // the caller also runs it and reports the error
    }
    alarm(0);
}

} // namespace

[[noreturn]] void makeCopies(int socket)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGCHLD, SIG_DFL);
    for (const int number : {SIGINT, SIGTERM}) // the main program handles them
        std::signal(number, SIG_IGN);
    setLogSink({});
    if (const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0)
        for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            dup2(nowhere, stream);
    for (TrialRequest request; recv(socket, &request, sizeof(request), 0) > 0;) {
        if (!request.body) // the trial has already ended
            continue;
        if (request.stays) {
            prepareWith(request);
            continue;
        }
        const TrialAnswer answer = answerTo(request, socket);
        if (send(socket, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
            break;
    }
    _exit(0);
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/trial_copies.h"

#include "engine/base/log.h"
#include "engine/base/memory/memory_budget.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
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

constexpr int kFine = 0, kNoMemory = 3; ///< exit codes of a copy
constexpr std::size_t kLongestError = 4000; ///< bytes, which a pipe takes without a reader
constexpr std::chrono::seconds kIdle {3}; ///< without work: it waits for what never comes
constexpr unsigned kSecondsToPrepare = 120;

/// The part of a packet with a fixed size.
struct RequestHead
{
    TrialBody body;
    TrialLimits limits;
    std::int64_t memoryLimit;
    bool stays;
};

struct EndHead
{
    bool finished, idle, noMemory, threw;
    int signal;
};

template<class Head>
std::string packetWith(const Head& head, const std::string& rest)
{
    return std::string(reinterpret_cast<const char*>(&head), sizeof(head)) + rest;
}

template<class Head>
Head headOf(const std::string& packet)
{
    Head head = {};
    std::memcpy(&head, packet.data(), std::min(sizeof(head), packet.size()));
    return head;
}

TrialRequest requestOf(const std::string& packet)
{
    const auto head = headOf<RequestHead>(packet);
    TrialRequest request {head.body, {}, head.limits, head.memoryLimit, head.stays};
    for (std::size_t at = sizeof(head); at < packet.size();) {
        const auto end = packet.find('\0', at);
        request.words.push_back(packet.substr(at, end - at));
        at = end + 1;
    }
    return request;
}

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
        closeEnd(0);
        closeEnd(1);
    }
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

    /// What becomes readable, or is closed, when the copy ends.
    int source()
    {
        closeEnd(1);
        return m_ends[0];
    }
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
    void closeEnd(int which)
    {
        if (m_ends[which] >= 0)
            close(m_ends[which]);
        m_ends[which] = -1;
    }
    int m_ends[2] = {-1, -1};
};

const Report* reportOfChild = nullptr; ///< in a copy alone

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

[[noreturn]] void runChild(const TrialRequest& request, const Report& report)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int number : {SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL, SIGXCPU})
        std::signal(number, SIG_DFL);
    limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__
    limit(RLIMIT_AS, rlim_t(virtualBytes() + request.limits.bytes));
#endif
    limit(RLIMIT_CPU, rlim_t(request.limits.seconds));
    // Large tensors lie among addresses that are taken already.
    const std::int64_t most = residentBytes() + request.limits.bytes;
    setMemoryLimit(request.memoryLimit > 0 ? std::min(request.memoryLimit, most) : most);
    reportOfChild = &report;
    std::set_terminate(tellException);
    int code = kFine;
    std::string error;
    try {
        const auto done = request.body(request.words);
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

/// Waits for the copy's end; ends it itself if it is idle, or if the socket says so.
TrialEnd awaitCopy(pid_t child, Report& report, int socket)
{
    TrialEnd end;
    int status = 0;
    std::int64_t used = 0;
    auto lastUsed = Clock::now();
    pollfd events[2] = {{report.source(), POLLIN, 0}, {socket, POLLIN, 0}};
    while (waitpid(child, &status, WNOHANG) == 0) {
        const bool reported = events[0].fd < 0;
        poll(events, 2, reported ? 1 : 50);
        if (events[0].revents != 0)
            events[0].fd = -1;
        const std::int64_t now = processorNanoseconds(child);
        if (now != used || !sleeps(child))
            lastUsed = Clock::now();
        used = now;
        end.idle = Clock::now() - lastUsed > kIdle;
        if (!end.idle && events[1].revents == 0)
            continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        if (events[1].revents != 0 && receivePacket(socket).empty())
            _exit(kFine); // the program has ended
        return end;
    }
    report.readInto(end);
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.noMemory = WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory;
    return end;
}

std::string answerTo(const TrialRequest& request, int socket)
{
    Report report;
    const pid_t child = fork();
    if (child == 0) {
        close(socket);
        runChild(request, report);
    }
    return child < 0 ? std::string(1, '\0') : packetOf(awaitCopy(child, report, socket));
}

void prepareWith(const TrialRequest& request)
{
    alarm(kSecondsToPrepare);
    try {
        (void)request.body(request.words);
    } catch (const std::exception&) { // the caller runs it too and reports it
    }
    alarm(0);
}

} // namespace

std::string packetOf(const TrialRequest& request)
{
    std::string words;
    for (const std::string& word : request.words)
        words += word + '\0';
    return packetWith(
        RequestHead {request.body, request.limits, request.memoryLimit, request.stays}, words);
}

std::string packetOf(const TrialEnd& end)
{
    return packetWith(EndHead {end.finished, end.idle, end.noMemory, end.threw, end.signal},
                      end.error);
}

TrialEnd endOf(const std::string& packet)
{
    const auto head = headOf<EndHead>(packet);
    return {head.finished, head.idle,   head.noMemory,
            head.threw,    head.signal, packet.substr(sizeof(head))};
}

std::string receivePacket(int socket)
{
    std::string packet(kLongestPacket, '\0');
    ssize_t size = 0;
    do
        size = recv(socket, packet.data(), packet.size(), 0);
    while (size < 0 && errno == EINTR);
    packet.resize(std::size_t(std::max<ssize_t>(size, 0)));
    return packet;
}

bool sendPacket(int socket, const std::string& packet)
{
    return packet.size() <= kLongestPacket
        && send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) == ssize_t(packet.size());
}

[[noreturn]] void makeCopies(int socket)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::signal(SIGCHLD, SIG_DFL);
    for (const int number : {SIGINT, SIGTERM}) // the program decides what they mean
        std::signal(number, SIG_IGN);
    setLogSink({});
    if (const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0)
        for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            dup2(nowhere, stream);
    for (;;) {
        const std::string packet = receivePacket(socket);
        if (packet.empty())
            _exit(kFine);
        if (packet == kEndTrial) // it ended meanwhile by itself
            continue;
        const TrialRequest request = requestOf(packet);
        if (request.stays)
            prepareWith(request);
        else if (!sendPacket(socket, answerTo(request, socket)))
            _exit(kFine);
    }
}

} // namespace qs

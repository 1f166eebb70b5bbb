// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/leavable_work.h"
#include "engine/base/process/try_apart.h"

#include <QtTest/QtTest>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace qs;

namespace {

constexpr TrialLimits kLimits {std::int64_t(1) << 30, 2};

using Words = std::vector<std::string>;

std::string prepared; ///< of a process

void raise()
{
    throw std::runtime_error("uncatchable");
}

/// As a library's constructor does.
void throwing() noexcept
{
    raise();
}

/// One step of each kind, by its name.
Result<void> body(const Words& words)
{
    const std::string& kind = words.front();
    if (kind == "fails")
        return fail(makeError(ErrorCode::BadInput, "is wrong").inFile(words.at(1)));
    if (kind == "crashes")
        std::raise(SIGSEGV);
    if (kind == "exits")
        _exit(0);
    if (kind == "throws")
        throwing();
    if (kind == "spins")
        for (std::atomic<int> turns = 0;;)
            ++turns;
    if (kind == "waits")
        pause();
    if (kind == "allocates")
        std::vector<char>(std::size_t(4) << 30, 'x').back() = words.front().front();
    if (kind == "prepares")
        prepared += words.at(1);
    if (kind == "is prepared" && prepared != words.at(1))
        return fail(ErrorCode::Internal, "not prepared");
    if (kind == "prints")
        std::fputs("unseen\n", stderr);
    return {};
}

TrialEnd endOf(const Words& words, const JobContext& job = {})
{
    const auto end = runApart(body, words, kLimits, job);
    return end && *end ? **end : TrialEnd {.error = "no copy"};
}

/// Processes whose parent is this one, and theirs.
std::vector<pid_t> descendants(pid_t of = getpid())
{
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream in(entry.path() / "stat");
        std::string text;
        if (!std::getline(in, text) || text.rfind(')') == std::string::npos)
            continue;
        char state = 0;
        pid_t parent = 0;
        std::istringstream(text.substr(text.rfind(')') + 1)) >> state >> parent;
        if (parent != of)
            continue;
        found.push_back(std::stoi(entry.path().filename()));
        for (const pid_t below : descendants(found.back()))
            found.push_back(below);
    }
    return found;
}

} // namespace

class TestTryApart : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void tellsHowATrialEnded()
    {
        QVERIFY(endOf({"fine"}).finished);
        const TrialEnd failed = endOf({"fails", "a file"});
        QVERIFY(failed.finished && !failed.crashed());
        QCOMPARE(failed.error, std::string("a file: is wrong"));
        const TrialEnd crashed = endOf({"crashes"});
        QVERIFY(!crashed.finished && crashed.crashed());
        QCOMPARE(crashed.signal, SIGSEGV);
        const TrialEnd ended = endOf({"exits"});
        QVERIFY(!ended.finished && ended.signal == 0 && ended.error.empty());
        const TrialEnd threw = endOf({"throws"});
        QVERIFY(threw.threw && !threw.finished);
        QCOMPARE(threw.error, std::string("uncatchable"));
        QCOMPARE(endOf({"spins"}).signal, SIGXCPU);
        QVERIFY(endOf({"waits"}).idle);
#ifndef __SANITIZE_ADDRESS__
        QVERIFY(endOf({"allocates"}).noMemory);
#endif
        QVERIFY(endOf({"prints"}).finished);
        QVERIFY(endOf({"fine"}).finished); // after all these
    }

    void saysWhatIsWrongWithAScript()
    {
        const auto line = [](const char* kind) {
            const auto tried = tryApart(body, {kind, ""}, kLimits, "its code", {});
            return tried ? std::string() : tried.error().message;
        };
        QCOMPARE(line("fine"), std::string());
        QCOMPARE(line("fails"), std::string()); // the caller meets it again
        QVERIFY(line("crashes").starts_with("its code is nested too deeply"));
        QVERIFY(line("spins").ends_with("busy without end"));
    }

    void stopsAtACancel()
    {
        for (int i = 0; i < 3; ++i) {
            std::stop_source stop;
            std::thread timer([&stop] {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                stop.request_stop();
            });
            QElapsedTimer clock;
            clock.start();
            const auto end = runApart(body, {"waits"}, kLimits, JobContext(stop.get_token()));
            timer.join();
            QVERIFY(!end && end.error().code == ErrorCode::Cancelled);
            QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
            QVERIFY(endOf({"fine"}).finished); // its own answer, not that of the one before
        }
    }

    /// Copies of a process with busy threads would meet locks that are never released.
    void findsNoLockHeld()
    {
        std::atomic<bool> isDone = false;
        std::vector<std::thread> busy;
        for (int i = 0; i < 4; ++i)
            busy.emplace_back([&isDone] {
                while (!isDone)
                    std::make_unique<std::string>(1000, 'x')->append(std::to_string(1.5));
            });
        std::atomic<int> fine = 0;
        std::vector<std::thread> trying;
        for (int i = 0; i < 4; ++i)
            trying.emplace_back([&fine] {
                for (int j = 0; j < 25; ++j)
                    fine += endOf({"fine"}).finished ? 1 : 0;
            });
        for (std::thread& thread : trying)
            thread.join();
        isDone = true;
        for (std::thread& thread : busy)
            thread.join();
        QCOMPARE(int(fine), 100);
    }

    void preparesLaterCopies()
    {
        QVERIFY(!endOf({"is prepared", "ab"}).error.empty());
        prepareTrials(body, {"prepares", "a"});
        prepareTrials(body, {"prepares", "b"});
        QCOMPARE(endOf({"is prepared", "ab"}).error, std::string());
        QVERIFY(prepared.empty()); // here
    }

    void leavesWorkThatDoesNotStop()
    {
        QVERIFY(runLeavable([] { return Result<void>(); }, {}).has_value());
        QVERIFY(!runLeavable([] { return Result<void>(fail(ErrorCode::Io, "full")); }, {}));
        std::stop_source stop;
        stop.request_stop();
        const auto goOn = std::make_shared<std::atomic<bool>>(true);
        const auto left = runLeavable(
            [goOn]() -> Result<void> {
                while (*goOn)
                    std::this_thread::yield();
                return {};
            },
            JobContext(stop.get_token()));
        QVERIFY(!left && left.error().code == ErrorCode::Cancelled);
        *goOn = false;
        QTRY_COMPARE(goOn.use_count(), 1L);
    }

    /// Last: there are no trials after it.
    void leavesNoProcess()
    {
        QCOMPARE(int(descendants().size()), 1);
        std::thread trying([] { (void)endOf({"waits"}); });
        QTRY_COMPARE(int(descendants().size()), 2);
        stopTrials();
        trying.join();
        QTRY_VERIFY(descendants().empty());
        QCOMPARE(endOf({"fine"}).error, std::string("no copy"));
    }
};

QTEST_GUILESS_MAIN(TestTryApart)
#include "tst_try_apart.moc"

// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/crash_line.h"

#include <QtTest/QtTest>

#include <csignal>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace qs;

namespace {

/// What a process that does this and crashes then writes to stderr; empty where it did not crash.
std::string lineOf(const std::function<void()>& body)
{
    int ends[2];
    if (pipe(ends) != 0)
        return {};
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        tellCrashes();
        body();
        std::raise(SIGFPE);
        _exit(0);
    }
    close(ends[1]);
    std::string told;
    char part[256];
    for (ssize_t size = 0; (size = read(ends[0], part, sizeof part)) > 0;)
        told.append(part, std::size_t(size));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGFPE ? told : std::string();
}

} // namespace

class TestCrashLine : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
#ifdef __SANITIZE_ADDRESS__
        QSKIP("the sanitizer reports crashes itself");
#endif
    }

    void namesTheInnermostNode()
    {
        const std::string told = lineOf([] {
            static const CrashPlace outer("cond", "higher_order.cond");
            {
                const CrashPlace done("relu", "aten.relu.default");
            }
            static const CrashPlace inner("fc", "aten.linear.default");
        });
        QVERIFY2(told.find("crashed in node 'fc' (aten.linear.default)") != std::string::npos,
                 told.c_str());
    }

    void namesTheOuterNodeAgain()
    {
        const std::string told = lineOf([] {
            static const CrashPlace outer("cond", "higher_order.cond");
            const CrashPlace done("relu", "aten.relu.default");
        });
        QVERIFY2(told.find("crashed in node 'cond'") != std::string::npos, told.c_str());
    }

    // Places of two threads that end in the order in which they began.
    void namesNoneThatIsNoMore()
    {
        const std::string told = lineOf([] {
            std::optional<CrashPlace> first;
            first.emplace("a", "pack.a");
            std::promise<void> begun, ended;
            std::thread other([&] {
                const CrashPlace second("b", "pack.b");
                begun.set_value();
                ended.get_future().wait();
            });
            begun.get_future().wait();
            first.reset();
            ended.set_value();
            other.join();
        });
        QCOMPARE(QString::fromStdString(told), QStringLiteral("quantscope: the program crashed\n"));
    }
};

QTEST_GUILESS_MAIN(TestCrashLine)
#include "tst_crash_line.moc"

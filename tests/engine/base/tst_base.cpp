// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/atomic_file.h"
#include "engine/base/job_context.h"
#include "engine/base/log.h"
#include "engine/base/memory/free_later.h"
#include "engine/base/text.h"
#include "engine/base/time_left.h"

#include <QtCore/QDir>
#include <QtCore/QFile>
#include <QtCore/QTemporaryDir>
#include <QtTest/QtTest>

#include <fstream>
#include <future>
#include <thread>

using namespace qs;

namespace {

Result<int> half(int n)
{
    if (n % 2)
        return fail(ErrorCode::BadInput, "odd");
    return n / 2;
}

Result<int> quarter(int n)
{
    QS_TRY(const int h, half(n));
    QS_TRY(const int q, half(h));
    return q;
}

} // namespace

class TestBase : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void errorLineNamesEverything()
    {
        const Error error = makeError(ErrorCode::BadInput, "wrong\nshape")
                                .inFile("m.pt2")
                                .atNode("conv2d")
                                .withHint("export it again");
        QCOMPARE(QString::fromStdString(error.line()),
                 "m.pt2: node 'conv2d': wrong shape; export it again");
    }
    /// Whoever lets go does not wait, and another thread deletes it.
    void isFreedElsewhere()
    {
        struct Watched
        {
            std::promise<std::thread::id>& deletedBy;
            std::shared_future<void> mayEnd;
            ~Watched()
            {
                mayEnd.wait();
                deletedBy.set_value(std::this_thread::get_id());
            }
        };
        std::promise<std::thread::id> deletedBy;
        std::promise<void> mayEnd;
        auto deleted = deletedBy.get_future();
        {
            const FreedLater<Watched> held(new Watched {deletedBy, mayEnd.get_future().share()});
        }
        QVERIFY(deleted.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
        mayEnd.set_value();
        QVERIFY(deleted.get() != std::this_thread::get_id());
    }
    void innermostContextStays()
    {
        const Error error = makeError(ErrorCode::BadInput, "x").inFile("inner").inFile("outer");
        QCOMPARE(QString::fromStdString(error.file), "inner");
    }
    void nounsFollowTheirCount()
    {
        QCOMPARE(counted(1, "batch"), std::string("1 batch"));
        QCOMPARE(counted(0, "match"), std::string("0 matches"));
        QCOMPARE(counted(12, "node"), std::string("12 nodes"));
    }
    void tryPassesErrorsOn()
    {
        QCOMPARE(*quarter(12), 3);
        QVERIFY(!quarter(6));
        QVERIFY(!quarter(5));
    }
    void cancelledJobSaysSo()
    {
        std::stop_source source;
        const JobContext job(source.get_token());
        QVERIFY(job.check());
        source.request_stop();
        const auto stopped = job.check();
        QVERIFY(!stopped);
        QVERIFY(stopped.error().code == ErrorCode::Cancelled);
    }
    void atomicFileAppearsWhole()
    {
        QTemporaryDir folder;
        const std::string path = folder.filePath("a.txt").toStdString();
        QVERIFY(writeFileAtomically(path, "one"));
        {
            const auto file = AtomicFile::create(path);
            QVERIFY(file);
            std::ofstream(file->temporaryPath()) << "half";
        }
        QFile file(folder.filePath("a.txt"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), QByteArray("one"));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size(), 1);
    }
    void unwritableFolderIsNamed()
    {
        QTemporaryDir folder;
        std::ofstream(folder.filePath("file").toStdString()) << "x";
        for (const QString& path : {folder.filePath("file/sub"), QString("/proc/quantscope")}) {
            const auto made = ensureWritableFolder(path.toStdString());
            QVERIFY(!made);
            QVERIFY(made.error().code == ErrorCode::Io);
            QVERIFY(QString::fromStdString(made.error().line()).startsWith(path));
        }
        QVERIFY(ensureWritableFolder(folder.filePath("new/deep").toStdString()));
        QVERIFY(QDir(folder.filePath("new/deep")).isEmpty());
    }
    void timeLeftFollowsTheShareDone()
    {
        using namespace std::chrono_literals;
        TimeLeft left;
        const TimeLeft::Clock::time_point begin {};
        const auto text = [&](const char* stage, double fraction, std::chrono::milliseconds after) {
            return left.text({stage, "", fraction}, begin + after);
        };
        QCOMPARE(text("calibrate", 0, 0ms), std::string());
        QCOMPARE(text("calibrate", 0.1, 100ms), std::string()); // too early to say
        QCOMPARE(text("calibrate", 0.25, 10s), std::string("about 30 s left"));
        QCOMPARE(text("calibrate", 0.5, 200s), std::string("about 3 min left"));
        QCOMPARE(text("calibrate", 1, 400s), std::string());
        // The next stage starts its own clock, and one that was taken up again counts from there.
        QCOMPARE(text("compare", 0.5, 400s), std::string());
        QCOMPARE(text("compare", 0.75, 410s), std::string("about 10 s left"));
        QCOMPARE(durationText(0.2), std::string("1 s"));
        QCOMPARE(durationText(7500), std::string("2 h 5 min"));
    }
    void logReachesTheSink()
    {
        std::vector<std::string> seen;
        setLogSink([&](LogLevel, const std::string& text) { seen.push_back(text); });
        note("hello");
        setLogSink({});
        note("gone");
        QCOMPARE(seen.size(), std::size_t(1));
    }
};

QTEST_GUILESS_MAIN(TestBase)
#include "tst_base.moc"

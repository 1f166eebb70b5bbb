// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/file_hash.h"
#include "engine/base/json/json_text.h"
#include "engine/base/sha256.h"
#include "engine/execute/interpreter.h"
#include "engine/export/onnx/onnx_exporter.h"
#include "tests/support/stage_walk.h"

#include <QTemporaryDir>
#include <QtTest>

#include <functional>
#include <optional>
#include <thread>

using namespace qs;

namespace {

/// A job that is cancelled at its report number `at`, counted from 0, and counts its reports.
struct CountedJob
{
    explicit CountedJob(int at)
        : cancelAt(at)
    {
    }
    JobContext context()
    {
        return JobContext(stop.get_token(), [this](const Progress&) {
            if (reports++ == cancelAt)
                stop.request_stop();
        });
    }
    int cancelAt, reports = 0;
    std::stop_source stop;
};

JobContext cancelledJob()
{
    std::stop_source stop;
    stop.request_stop();
    return JobContext(stop.get_token());
}

template<class T>
bool isCancelled(const Result<T>& result)
{
    return !result && result.error().code == ErrorCode::Cancelled;
}

} // namespace

/// Every stage stops at the report at which it is cancelled, and leaves no file.
class TestCancel : public QObject
{
    Q_OBJECT

private:
    static constexpr int kBlocks = 8; ///< of four operators
    /// Of the export whose TorchScript file another process writes.
    static constexpr int kManyBlocks = 300;

    QTemporaryDir m_folder;
    std::optional<test::StageWalk> m_walk;

    /// A model whose stages up to the comparison are done.
    void prepare(int blocks)
    {
        m_walk.emplace(blocks, m_folder.path().toStdString());
        for (const char* stage : {"calibrate", "convert", "compare"})
            test::StageWalk::must(m_walk->stage(stage)({}));
    }

private Q_SLOTS:
    void initTestCase() { prepare(kBlocks); }

    void atEveryReport_data()
    {
        QTest::addColumn<QString>("stage");
        for (const std::string& stage : test::StageWalk::names())
            if (stage != "verify") // starts Python each time
                QTest::newRow(stage.c_str()) << QString::fromStdString(stage);
    }

    void atEveryReport()
    {
        QFETCH(QString, stage);
        const auto run = m_walk->stage(stage.toStdString());
        QDir out(m_folder.filePath(stage));
        CountedJob whole(-1);
        QVERIFY(run(whole.context()).has_value());
        out.removeRecursively();
        QVERIFY(whole.reports > 0 || stage == "plan"); // has one step
        for (int i = 0; i + 1 < whole.reports; ++i) {
            CountedJob job(i);
            QVERIFY2(isCancelled(run(job.context())), qPrintable(QString("report %1").arg(i)));
            QVERIFY2(job.reports <= i + 2, qPrintable(QString("report %1: goes on").arg(i)));
            out.refresh();
            QVERIFY2(!out.exists() || out.isEmpty(),
                     qPrintable(QString("report %1: files").arg(i)));
        }
    }

    /// What has no reports, or few, looks at the job within its loop.
    void withinALoop()
    {
        const JobContext job = cancelledJob();
        const Backend backend = findBackend("x86").value();
        const test::StageWalk& walk = *m_walk;
        QVERIFY(isCancelled(makePlan(*walk.deep().graph, walk.recipe(), backend, job)));
        QVERIFY(isCancelled(Interpreter::create(walk.deep().graph, {}, job)));
        QVERIFY(isCancelled(onnxModel(*walk.converted()->reference, {}, job)));
        QVERIFY(isCancelled(npzBytes({npyScalar("a", 1.0f)}, job)));
        QVERIFY(
            isCancelled(writeObservations(*walk.seen()->observations, walk.at("o.npz"), {}, job)));
        QVERIFY(!QFile::exists(m_folder.filePath("o.npz")));
        nlohmann::ordered_json document;
        for (int i = 0; i < 20000; ++i)
            document.push_back({{"number", i}});
        QVERIFY(isCancelled(jsonText(document, {}, job)));
        test::StageWalk::must(m_walk->stage("onnx")({}));
        QVERIFY(readStoredRun(walk.at("onnx")).has_value());
        QVERIFY(isCancelled(readStoredRun(walk.at("onnx"), job)));
        QCOMPARE(*jsonText(document, {}, {}), document.dump());
        QCOMPARE(*jsonText(document, {2, true}, {}), document.dump(2));
    }

    /// Files are hashed a block at a time.
    void whileFilesAreHashed()
    {
        const std::string data = m_walk->at("x.npz");
        QVERIFY(isCancelled(fileSha256(data, cancelledJob())));
        ContentHashes hashes;
        QVERIFY(isCancelled(hashes.of(data, {}, cancelledJob())));
        QVERIFY(isCancelled(hashes.of(m_folder.path().toStdString(), {}, cancelledJob())));
        QCOMPARE(*hashes.of(data, {}, {}), *fileSha256(data));
        test::StageWalk::must(m_walk->stage("onnx")({}));
        QVERIFY(isCancelled(m_walk->stage("verify")(cancelledJob())));
    }

    /// LibTorch does not stop while it writes: another process writes large files.
    void whileLibTorchWrites()
    {
        prepare(kManyBlocks);
        const std::string folder = m_walk->at("large");
        QVERIFY(m_walk->exported("torchscript", folder, {}).has_value());
        const auto read = importModel(folder + "/" + exportFile("torchscript"), {});
        QVERIFY(read.has_value());
        const JobContext none;
        const auto written = Interpreter::create(*read)->run({at::full({2, 8}, 0.5)}, {}, none);
        const auto wanted = Interpreter::create(m_walk->converted()->lowered)
                                ->run({at::full({2, 8}, 0.5)}, {}, none);
        QVERIFY(written && wanted);
        QVERIFY(at::equal(written->at(0).toTensor(), wanted->at(0).toTensor()));

        std::stop_source stop;
        std::thread timer;
        const JobContext job(stop.get_token(), [&](const Progress& progress) {
            if (progress.what == exportFile("torchscript") && !timer.joinable())
                timer = std::thread([&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds(50));
                    stop.request_stop();
                });
        });
        QVERIFY(isCancelled(m_walk->exported("torchscript", m_walk->at("cancelled"), job)));
        timer.join();
        const QDir left(m_folder.filePath("cancelled"));
        QVERIFY(!left.exists() || left.isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestCancel)
#include "tst_cancel.moc"

// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/json_text.h"
#include "engine/convert/outline.h"
#include "engine/execute/interpreter.h"
#include "engine/export/exporter.h"
#include "engine/export/onnx/onnx_exporter.h"
#include "engine/import/importer.h"
#include "engine/io/npz.h"
#include "engine/pipeline/stage_chain.h"
#include "tests/support/deep_model.h"

#include <QTemporaryDir>
#include <QtTest>

#include <functional>
#include <optional>
#include <thread>

using namespace qs;

namespace {

using Stage = std::function<Result<void>(const JobContext&)>;

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

    std::optional<test::DeepModel> m_deep;
    QTemporaryDir m_folder;
    RunSettings m_settings;
    Recipe m_recipe;
    CalibrationPtr m_seen;
    ConvertedPtr m_converted;
    ComparisonPtr m_compared;

    std::string at(const char* name) const { return m_folder.filePath(name).toStdString(); }

    template<class T>
    static T must(Result<T> result)
    {
        if (!result)
            qFatal("%s", result.error().line().c_str());
        return std::move(*result);
    }

    void prepare(int blocks)
    {
        m_deep.emplace(blocks);
        m_recipe = m_deep->recipe;
        m_recipe.calibration.batchSize = 2;
        StageChain chain;
        m_seen = must(chain.calibrate({m_deep->graph, m_deep->plan, m_recipe, m_settings}, {}));
        m_converted = must(chain.convert({m_seen, m_recipe, m_settings}, {}));
        m_compared = must(chain.compare({m_seen, m_converted, m_recipe, m_settings}, {}));
    }

    ExportRequest request(const std::string& form, const std::string& folder) const
    {
        ExportRequest out;
        out.calibration = m_seen;
        out.converted = m_converted;
        out.comparison = m_compared;
        out.recipe = m_recipe;
        out.settings = m_settings;
        out.forms = {form};
        out.folder = folder;
        return out;
    }

    Stage stageOf(const std::string& name)
    {
        const auto done = [](const auto& result) -> Result<void> {
            if (!result)
                return fail(result.error());
            return {};
        };
        if (name == "open")
            return [=, this](const JobContext& job) { return done(importModel(at("m.pt2"), job)); };
        if (name == "outline")
            return [=, this](const JobContext& job) {
                return done(outlineConversion(m_deep->graph, m_deep->plan, m_recipe, job));
            };
        if (name == "calibrate")
            return [=, this](const JobContext& job) {
                return done(StageChain().calibrate(
                    {m_deep->graph, m_deep->plan, m_recipe, m_settings}, job));
            };
        if (name == "convert")
            return [=, this](const JobContext& job) {
                return done(StageChain().convert({m_seen, m_recipe, m_settings}, job));
            };
        if (name == "compare")
            return [=, this](const JobContext& job) {
                return done(StageChain().compare({m_seen, m_converted, m_recipe, m_settings}, job));
            };
        return [=, this](const JobContext& job) {
            return done(StageChain().exportTo(request(name, at("out")), job));
        };
    }

private Q_SLOTS:
    void initTestCase()
    {
        std::vector<NpyArray> arrays {npyFrom("x", std::vector<float>(8 * 8, 0.5f))};
        arrays.front().shape = {8, 8};
        QVERIFY(writeNpz(arrays, at("x.npz")).has_value());
        m_settings = {at("x.npz"), {}, "cpu"};
        prepare(kBlocks);
        QVERIFY(savePt2(*m_deep->graph, at("m.pt2"), {}).has_value());
    }

    void atEveryReport_data()
    {
        QTest::addColumn<QString>("stage");
        for (const char* stage : {"open", "outline", "calibrate", "convert", "compare"})
            QTest::newRow(stage) << stage;
        for (const std::string& form : exportForms())
            QTest::newRow(form.c_str()) << QString::fromStdString(form);
    }

    void atEveryReport()
    {
        QFETCH(QString, stage);
        const Stage run = stageOf(stage.toStdString());
        QDir out(m_folder.filePath("out"));
        CountedJob whole(-1);
        QVERIFY(run(whole.context()).has_value());
        out.removeRecursively();
        QVERIFY(whole.reports > 0);
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
        QVERIFY(isCancelled(makePlan(*m_deep->graph, m_recipe, backend, job)));
        QVERIFY(isCancelled(Interpreter::create(m_deep->graph, {}, job)));
        QVERIFY(isCancelled(onnxModel(*m_converted->reference, {}, job)));
        QVERIFY(isCancelled(npzBytes({npyScalar("a", 1.0f)}, job)));
        QVERIFY(isCancelled(writeObservations(*m_seen->observations, at("o.npz"), {}, job)));
        QVERIFY(!QFile::exists(m_folder.filePath("o.npz")));
        nlohmann::ordered_json document;
        for (int i = 0; i < 20000; ++i)
            document.push_back({{"number", i}});
        QVERIFY(isCancelled(jsonText(document, {}, job)));
        QCOMPARE(*jsonText(document, {}, {}), document.dump());
        QCOMPARE(*jsonText(document, {2, true}, {}), document.dump(2));
    }

    /// LibTorch does not stop while it writes: another process writes large files.
    void whileLibTorchWrites()
    {
        prepare(kManyBlocks);
        const std::string folder = at("large");
        StageChain chain;
        QVERIFY(chain.exportTo(request("torchscript", folder), {}).has_value());
        const auto read = importModel(folder + "/" + exportFile("torchscript"), {});
        QVERIFY(read.has_value());
        const JobContext none;
        const auto written = Interpreter::create(*read)->run({at::full({2, 8}, 0.5)}, {}, none);
        const auto wanted
            = Interpreter::create(m_converted->lowered)->run({at::full({2, 8}, 0.5)}, {}, none);
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
        QVERIFY(isCancelled(chain.exportTo(request("torchscript", at("cancelled")), job)));
        timer.join();
        const QDir left(m_folder.filePath("cancelled"));
        QVERIFY(!left.exists() || left.isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestCancel)
#include "tst_cancel.moc"

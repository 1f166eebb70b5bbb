// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"
#include "engine/io/npz.h"
#include "engine/pipeline/engine_service.h"

#include <QtTest>

#include <random>

using namespace qs;

/// The real engine as the window asks it.
class TestEngineSession : public QObject
{
    Q_OBJECT

private:
    static constexpr int kBatches = 60000;
    QTemporaryDir m_folder;
    std::string m_data;
    CalibrateRequest m_request;

    struct Seen
    {
        int first = 0, last = 0; ///< batch numbers that were reported
    };
    /// Runs a calibration; stopped after about so many batches, unless that is 0.
    Result<CalibrationPtr> run(EngineService& engine, int batches, Seen& seen)
    {
        std::stop_source stop;
        const JobContext job(stop.get_token(), [&](const Progress& progress) {
            const auto what = QString::fromStdString(progress.what);
            if (!what.startsWith(QLatin1String("batch ")))
                return;
            seen.last = what.section(QLatin1Char(' '), 1, 1).toInt();
            seen.first = seen.first == 0 ? seen.last : seen.first;
            if (batches > 0 && seen.last >= seen.first + batches)
                stop.request_stop();
        });
        return engine.calibrate(m_request, job);
    }

private Q_SLOTS:
    void initTestCase()
    {
        std::mt19937 random(1);
        std::vector<float> values(std::size_t(kBatches) * 64);
        for (float& value : values)
            value = float(random() % 1000) / 1000.0f;
        NpyArray images = npyFrom("image", values);
        images.shape = {kBatches, 1, 8, 8};
        m_data = m_folder.filePath("images.npz").toStdString();
        const auto written = writeNpz({images}, m_data);
        QVERIFY2(written, written ? "" : written.error().line().c_str());

        const auto engine = makeEngine();
        auto model = engine->open(QS_SOURCE_DIR "/resources/samples/digits.pt2", {});
        QVERIFY2(model, model ? "" : model.error().line().c_str());
        m_request.model = *model;
        m_request.recipe = defaultRecipe();
        m_request.recipe.calibration.batchSize = 1;
        m_request.recipe.calibration.batches = kBatches;
        m_request.settings.device = "cpu";
        m_request.settings.calibrationData = m_data;
        auto plan = engine->plan(m_request.model, m_request.recipe, {});
        QVERIFY(plan);
        m_request.plan = *plan;
    }

    void aCancelledCalibrationGoesOn()
    {
        const QString keepIn = m_folder.filePath("cache/quantscope");
        Seen cancelled, resumed;
        {
            const auto engine = makeEngine(keepIn.toStdString());
            const auto found = run(*engine, 3000, cancelled);
            QVERIFY(!found);
            QCOMPARE(found.error().code, ErrorCode::Cancelled);
            QVERIFY2(!found.error().hint.empty(), found.error().line().c_str());
        }
        QCOMPARE(cancelled.first, 1);
        QCOMPARE(QDir(keepIn).entryList(QDir::Files).size(), 1);
        // Another program start, the same decisions and data.
        const auto engine = makeEngine(keepIn.toStdString());
        const auto found = run(*engine, 3000, resumed);
        QVERIFY(!found);
        QVERIFY2(resumed.first > 1 && resumed.first <= cancelled.last,
                 qPrintable(QString::number(resumed.first)));
        // Another plan: from the start, and nothing of it is left once it is done.
        m_request.recipe.calibration.batchSize = kBatches / 4;
        Seen other;
        const auto whole = run(*engine, 0, other);
        QVERIFY2(whole, whole ? "" : whole.error().line().c_str());
        QCOMPARE(other.first, 1);
        QCOMPARE((*whole)->observations->samples, kBatches);
        QVERIFY(QDir(keepIn).isEmpty());
        m_request.recipe.calibration.batchSize = 1;
    }

    /// A folder holds the exports of one result.
    void anExportTakesThePlaceOfTheOneBefore()
    {
        const auto engine = makeEngine();
        CalibrateRequest few = m_request;
        few.recipe.calibration.batches = 2;
        const auto seen = engine->calibrate(few, {});
        QVERIFY2(seen, seen ? "" : seen.error().line().c_str());
        const auto made = engine->convert({*seen, few.recipe, few.settings}, {});
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        const QString folder = m_folder.filePath("exports");
        const auto names = [&folder] { return QDir(folder).entryList(QDir::Files, QDir::Name); };
        const auto write = [&](std::vector<std::string> forms) {
            ExportRequest request;
            request.calibration = *seen;
            request.converted = *made;
            request.recipe = few.recipe;
            request.settings = few.settings;
            request.forms = std::move(forms);
            request.folder = folder.toStdString();
            const auto report = engine->exportTo(request, {});
            QVERIFY2(report, report ? "" : report.error().line().c_str());
            for (const auto& file : report->files)
                QVERIFY2(QFile::exists(QString::fromStdString(file)), file.c_str());
        };
        write({"torchscript", "pt2"});
        QCOMPARE(names(),
                 QStringList({"model.int8.pt2", "model.int8.ts.pt", "observations.npz",
                              "recipe.json", "result.json"}));
        QFile own(folder + "/mine.ts.pt");
        QVERIFY(own.open(QIODevice::WriteOnly));
        std::string told;
        setLogSink([&told](LogLevel, const std::string& text) { told += text; });
        write({"pt2-reference", "pt2"});
        setLogSink({});
        QCOMPARE(names(),
                 QStringList({"mine.ts.pt", "model.int8.pt2", "model.reference.pt2",
                              "observations.npz", "recipe.json", "result.json"}));
        QVERIFY2(told.find("model.int8.ts.pt") != std::string::npos, told.c_str());
    }

    void withoutAFolderItStartsOver()
    {
        Seen cancelled, again;
        const auto engine = makeEngine();
        QVERIFY(!run(*engine, 2000, cancelled));
        QVERIFY(!run(*engine, 300, again));
        QCOMPARE(again.first, 1);
    }
};

QTEST_GUILESS_MAIN(TestEngineSession)
#include "tst_engine_session.moc"

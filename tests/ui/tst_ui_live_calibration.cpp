// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/calibrate/convergence/calibration_watch.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/io/npz.h"
#include "engine/pipeline/stage_chain.h"
#include "tests/support/command_line.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/tour/picture_check.h"
#include "tests/ui/window_test.h"
#include "ui/plots/convergence_plot.h"
#include "ui/plots/histogram_plot.h"
#include "ui/plots/side_plots.h"

#include <QJsonArray>
#include <QPushButton>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include <random>
#include <thread>

using namespace qs;

/// A calibration that is watched, in the engine and in the window, beside the command line.
class TestLiveCalibration : public test::WindowTest<test::RealEngine>
{
    Q_OBJECT

    QTemporaryDir m_folder;
    CommandLine m_commandLine {test::kSamples + "digits.pt2", m_folder.path()};
    static constexpr int kBatches = 12;
    static constexpr int kLargeBatch = 2048; ///< so that a batch takes a while
    QString m_data = m_folder.filePath("many.npz");

    Document& document() { return workspace().document(); }
    ConvergencePlot& plot() { return *find<ConvergencePlot>("convergencePlot"); }
    HistogramPlot& histogram() { return *find<HistogramPlot>("histogramPlot"); }
    SidePlots& beside() { return *find<SidePlots>("sidePlots"); }

    /// A request on the digits sample, in an engine that caches nothing yet.
    static CalibrateRequest requestOn(StageChain& chain)
    {
        CalibrateRequest request;
        request.model = *chain.open((test::kSamples + "digits.pt2").toStdString(), {});
        request.recipe = defaultRecipe();
        request.recipe.calibration = {8, kBatches, false, {}};
        request.settings.calibrationData = (test::kSamples + "calib.npz").toStdString();
        request.settings.device = "cpu";
        request.plan = *chain.plan(request.model, request.recipe);
        return request;
    }

    static void compareStats(const ObserverStats& a, const ObserverStats& b)
    {
        QCOMPARE(a.id, b.id);
        QCOMPARE(a.count, b.count);
        QCOMPARE(a.min, b.min);
        QCOMPARE(a.max, b.max);
        QCOMPARE(a.exact.counts, b.exact.counts);
        QCOMPARE(a.fine.counts, b.fine.counts);
        QCOMPARE(a.batchMin, b.batchMin);
        QCOMPARE(a.ranges, b.ranges);
    }

    void open()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 860);
        m_window->show();
        m_window->openModel(test::kSamples + "digits.pt2");
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 60000);
        RunSettings settings = document().settings();
        settings.device = "cpu";
        settings.calibrationData = m_data.toStdString();
        document().setSettings(settings);
        Recipe recipe = document().recipe();
        recipe.calibration.batches = kBatches;
        recipe.calibration.batchSize = kLargeBatch;
        workspace().change("batches", recipe);
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 60000);
    }

    void writeManySamples() const
    {
        std::mt19937 random(1);
        std::normal_distribution<float> normal;
        std::vector<float> values(std::size_t(kBatches) * kLargeBatch * 64);
        for (float& value : values)
            value = std::abs(normal(random)) * 5;
        NpyArray array = npyFrom("image", values);
        array.shape = {kBatches * kLargeBatch, 1, 8, 8};
        QVERIFY(writeNpz({array}, m_data.toStdString()));
    }

private Q_SLOTS:
    void snapshotsArriveInOrderAndEndAtTheResult()
    {
        StageChain watched, plain;
        CalibrateRequest request = requestOn(watched);
        request.watch = std::make_shared<CalibrationWatch>();
        const auto isActivation = [](const PlannedObserver& one) { return !one.isWeight; };
        const auto& planned = request.plan->observers;
        const ObserverId asked = std::find_if(planned.begin(), planned.end(), isActivation)->id;
        request.watch->ask(asked);
        std::vector<SnapshotPtr> seen;
        const JobContext job({}, [&](const Progress&) {
            const SnapshotPtr now = request.watch->newest();
            if (now && (seen.empty() || seen.back() != now))
                seen.push_back(now);
            std::this_thread::sleep_for(std::chrono::milliseconds(120));
        });
        const auto made = watched.calibrate(request, job);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        const CalibrationPtr& result = *made;
        QVERIFY(seen.size() >= 3);
        for (std::size_t i = 1; i < seen.size(); ++i) {
            QVERIFY(seen[i]->batches > seen[i - 1]->batches);
            QVERIFY(seen[i]->samples > seen[i - 1]->samples);
            QVERIFY(seen[i]->count > seen[i - 1]->count);
            QCOMPARE(seen[i]->allBatches, std::int64_t(kBatches));
            QCOMPARE(seen[i]->isLast, i + 1 == seen.size());
        }
        const CalibrationSnapshot& last = *seen.back();
        QCOMPARE(last.samples, result->observations->samples);
        QCOMPARE(last.histogram.counts, result->observations->tryGet(asked)->fine.counts);
        QCOMPARE(last.histogram.max, result->observations->tryGet(asked)->fine.max);
        QVERIFY(last.convergence->observers.size() > 5);
        for (std::size_t i = 0; i < last.running.size(); ++i) {
            const ObserverStats* stats
                = result->observations->tryGet(last.convergence->observers[i].id);
            const ValueRange range = wholeRange(*stats);
            QCOMPARE(last.running[i], (RangeAfter {kBatches, range.min, range.max}));
            QCOMPARE(stats->ranges, last.convergence->observers[i].ranges);
        }

        // The same to the bit without a watch.
        CalibrateRequest quiet = requestOn(plain);
        const CalibrationPtr other = plain.calibrate(quiet, {}).value();
        QCOMPARE(other->observations->observers.size(), result->observations->observers.size());
        for (std::size_t i = 0; i < other->observations->observers.size(); ++i)
            compareStats(other->observations->observers[i], result->observations->observers[i]);
        QVERIFY(other->qparams == result->qparams);
        // A recorded range gives the parameters that a search gives.
        for (const ObserverStats& stats : result->observations->observers)
            if (result->qparams.contains(stats.id))
                QVERIFY(result->qparams.at(stats.id) == chooseQParams(stats));
    }

    void theWindowFollowsTheCalibration()
    {
        writeManySamples();
        open();
        QVERIFY(!plot().isVisible());
        const auto& planned = document().plan()->observers;
        const auto& model = *document().model();
        const auto conv = std::find_if(planned.begin(), planned.end(), [&](const auto& one) {
            return !one.isWeight && !one.edges.empty()
                && model.tryGet(one.edges.front().value.node)->isOperator();
        });
        workspace().selectNode(conv->edges.front().value.node);
        QStringList captions;
        std::vector<std::vector<RangeAfter>> drawn;
        const QString pictures = qEnvironmentVariable("QS_PICTURES");
        const auto note = [&] {
            const QString caption = histogram().caption();
            if (!caption.contains(QStringLiteral(" of 12 · "))
                || (!captions.isEmpty() && captions.back() == caption))
                return;
            captions << caption;
            drawn.push_back(plot().ranges());
            QVERIFY(plot().isVisible());
            QVERIFY(histogram().barCount() > 20);
            if (!pictures.isEmpty())
                m_window->grab().save(pictures + QStringLiteral("/live.png"));
        };
        QTimer look;
        connect(&look, &QTimer::timeout, this, note);
        look.start(10);
        workspace().pipeline().runUpTo(Stage::Calibrate);
        QTRY_VERIFY_WITH_TIMEOUT(settled() && document().calibration(), 120000);
        look.stop();
        qInfo("%s", qPrintable(captions.join('\n')));
        QVERIFY(captions.size() >= 2);
        QVERIFY(captions.front().contains(QStringLiteral("batch 1 of 12 · ")));
        for (std::size_t i = 1; i < drawn.size(); ++i)
            QVERIFY(drawn[i].back().batches > drawn[i - 1].back().batches);
        QTRY_VERIFY(histogram().caption().contains(QStringLiteral("12 batches")));
        QTRY_COMPARE(plot().ranges(), workspace().facts().stats(conv->id)->ranges);
        QVERIFY(clippedTexts(plot()).isEmpty());
        if (!pictures.isEmpty())
            m_window->grab().save(pictures + QStringLiteral("/calibrated.png"));
    }

    void theHintIsThatOfTheCommandLine()
    {
        const QJsonObject told
            = m_commandLine.quantize(document().recipe(), document().settings())["convergence"]
                  .toObject();
        QCOMPARE(plot().hintLine(), workspace().facts().titled(told["hint"].toString()));
        const ConvergencePtr& here = workspace().calibrating().convergence();
        const QJsonArray observers = told["observers"].toArray();
        QCOMPARE(observers.size(), qsizetype(here->observers.size()));
        for (int i = 0; i < observers.size(); ++i) {
            const QJsonObject there = observers[i].toObject();
            const RangeHistory& one = here->observers[std::size_t(i)];
            QCOMPARE(there["node"].toString().toStdString(), one.name);
            QCOMPARE(there["batches"].toArray().size(), qsizetype(one.ranges.size()));
            for (int k = 0; k < int(one.ranges.size()); ++k) {
                QCOMPARE(there["batches"][k].toInteger(), one.ranges[std::size_t(k)].batches);
                QCOMPARE(float(there["low"][k].toDouble()), one.ranges[std::size_t(k)].low);
                QCOMPARE(float(there["high"][k].toDouble()), one.ranges[std::size_t(k)].high);
            }
        }
    }

    void theHintLimitsTheBatches()
    {
        auto* limit = find<QPushButton>("calibrateLess");
        QCOMPARE(limit->isVisible(), workspace().calibrating().enoughBatches() > 0);
        // The same samples again and again: their ranges settle.
        const QString repeated = m_folder.filePath("repeated.npz");
        QCOMPARE(QProcess::execute(
                     QStringLiteral(QS_PYTHON),
                     {"-c",
                      "import sys, numpy\n"
                      "data = numpy.load(sys.argv[1])\n"
                      "numpy.savez(sys.argv[2], **{key: numpy.concatenate([data[key][:4]] * 16) "
                      "for key in data.files if key != 'labels'})",
                      test::kSamples + "calib.npz", repeated}),
                 0);
        RunSettings settings = document().settings();
        settings.calibrationData = repeated.toStdString();
        document().setSettings(settings);
        Recipe recipe = document().recipe();
        recipe.calibration.batchSize = 4;
        recipe.calibration.batches = 16;
        workspace().change("equal batches", recipe);
        workspace().pipeline().runUpTo(Stage::Calibrate);
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 60000);
        const std::int64_t enough = workspace().calibrating().enoughBatches();
        QVERIFY2(enough > 0 && enough < 16, qPrintable(QString::number(enough)));
        QTRY_VERIFY(limit->isVisible());
        QTest::mouseClick(limit, Qt::LeftButton);
        QCOMPARE(document().recipe().calibration.batches, int(enough));
        workspace().undoStack().undo();
        QCOMPARE(document().recipe().calibration.batches, 16);
        workspace().undoStack().undo();
        QCOMPARE(document().recipe().calibration.batches, kBatches);
    }

    void theErrorsComeBackAndTheSwitchKeepsBoth()
    {
        QTRY_VERIFY_WITH_TIMEOUT(settled(), 60000);
        workspace().pipeline().runUpTo(Stage::Compare);
        QTRY_VERIFY_WITH_TIMEOUT(settled() && document().comparison(), 60000);
        QCOMPARE(beside().currentIndex(), 0);
        auto* toRanges = find<QAbstractButton>("besideErrors1");
        toRanges->setFocus();
        QTest::keyClick(toRanges, Qt::Key_Space);
        QVERIFY(plot().isVisible());
        QCOMPARE(QApplication::focusWidget()->objectName(), QStringLiteral("besideRanges1"));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Left);
        QTRY_COMPARE(beside().currentIndex(), 0);
    }
};

QTEST_MAIN(TestLiveCalibration)
#include "tst_ui_live_calibration.moc"

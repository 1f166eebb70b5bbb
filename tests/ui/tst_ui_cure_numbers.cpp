// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/dialogs.h"
#include "tests/ui/tuned_window.h"
#include "ui/shell/dialogs/run_dialogs.h"

using namespace qs;

/// The search of the Cure page beside `quantscope tune`, and what follows from taking its trials.
class TestCureNumbers : public test::TunedWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { openPage(); }
    void cleanupTestCase() { closePage(); }

    void thePredictedFrontIsWhys()
    {
        auto* front = find<FrontPlot>("frontPlot");
        QCOMPARE(front->predictedCount(), 0);
        m_window->actions()[ActionId::FindCauses].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(
            document().diagnosis() && settled() && !workspace().causes().isRunning(), 60000);
        QFile file(m_folder.filePath("start.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(recipeToJson(m_start)));
        file.close();
        const QJsonObject told = test::commandLine(
            {"why", kDigits, "--recipe", file.fileName(), "--data",
             toQString(document().settings().calibrationData), "--device", "cpu", "--json"});
        const auto& points = document().diagnosis()->front;
        compareFront(points, told["front"].toArray());
        QVERIFY(points.size() > 3);
        QCOMPARE(points.front().int8Macs, 1.0);
        QVERIFY(std::abs(points.front().db - told["predicted_db"].toDouble()) < 0.5);
        for (std::size_t i = 1; i < points.size(); ++i)
            QVERIFY(points[i].db > points[i - 1].db
                    && points[i].int8Macs <= points[i - 1].int8Macs);
        QTRY_COMPARE(front->predictedCount(), int(points.size()));
        QCOMPARE(front->dotCount(), 0);
    }

    void trialsAreTheCommandLines()
    {
        find<QDoubleSpinBox>("cureGoal")->setValue(45); // which the sample misses
        runSearch();
        const QJsonObject told = toldByTune();
        QVERIFY2(told["trials"].toArray().size() > 2, "too few trials");
        compareSearch(told);
    }

    void theTakenRecipeIsTheWrittenOne()
    {
        const int from = workspace().undoStack().index();
        QTest::mouseClick(&button("cureTake"), Qt::LeftButton);
        QCOMPARE(workspace().undoStack().index(), from + 1);
        settle();
        const auto written = readRecipe(tunedFile().toStdString());
        QVERIFY2(written, written ? "" : written.error().line().c_str());
        QCOMPARE(textOf(document().recipe()), textOf(*written));
        for (const Cure& cure : document().recipe().cures)
            QVERIFY2(cure.file.empty() || fileSha256(cure.file).value_or("") == cure.sha256,
                     cure.file.c_str());
        workspace().undoStack().undo();
        settle();
        QCOMPARE(recipeToJson(document().recipe()), recipeToJson(m_start));
    }

    void fourStepsCureAModel()
    {
        auto before = std::move(m_window);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->show();
        m_window->openModel(kDigits); // first
        settle();
        test::atDialog<CalibrateDialog>(*m_window,
                                        [](CalibrateDialog& dialog) { dialog.accept(); });
        m_window->actions()[ActionId::Calibrate].trigger(); // second
        QTRY_VERIFY_WITH_TIMEOUT(document().calibration() && settled(), 60000);
        m_window->actions()[ActionId::ShowCure].trigger();
        find<QDoubleSpinBox>("cureGoal")->setValue(37);
        QTest::mouseClick(&button("cureRun"), Qt::LeftButton); // third
        QTRY_VERIFY_WITH_TIMEOUT(search().phase() == CureSearch::Phase::Ended && settled(), 60000);
        QVERIFY(search().state().isReached());
        QTRY_VERIFY(button("cureTake").isVisible());
        QTest::mouseClick(&button("cureTake"), Qt::LeftButton); // fourth
        settle();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const auto& outputs = document().comparison()->outputs;
        QVERIFY(outputs.front().cumulative && outputs.front().cumulative->sqnrDb);
        QVERIFY2(*outputs.front().cumulative->sqnrDb > 36,
                 qPrintable(QString::number(*outputs.front().cumulative->sqnrDb)));
        m_window = std::move(before);
    }

    void aSearchThatWasInterruptedIsTheSame()
    {
        const TuneState whole = search().state();
        startAgain();
        // Other data and back: nothing is known.
        RunSettings settings = document().settings();
        const RunSettings own = settings;
        settings.calibrationData = (test::kSamples + "calib.npz").toStdString();
        settings.device = "auto";
        document().setSettings(settings);
        document().setSettings(own);
        QVERIFY(search().phase() == CureSearch::Phase::Idle);
        forgetSearches();
        search().start();
        for (int i = 0; i < 3; ++i) {
            const std::size_t now = search().state().trials.size();
            QTRY_VERIFY_WITH_TIMEOUT(search().state().trials.size() > now || !search().isRunning(),
                                     60000);
            QElapsedTimer clock;
            clock.start();
            search().pause();
            settle();
            QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
            search().resume();
        }
        QTRY_VERIFY_WITH_TIMEOUT(search().phase() == CureSearch::Phase::Ended && settled(), 60000);
        QCOMPARE(search().state().trials.size(), whole.trials.size());
        for (std::size_t i = 0; i < whole.trials.size(); ++i) {
            QVERIFY(search().state().trials[i] == whole.trials[i]);
            QVERIFY(search().state().trials[i].guard == whole.trials[i].guard);
        }
    }

    void theGainOfACureIsThePreviews()
    {
        startAgain();
        m_window->actions()[ActionId::FindCauses].trigger();
        QTRY_VERIFY_WITH_TIMEOUT(
            document().diagnosis() && settled() && !workspace().causes().isRunning(), 60000);
        auto* list = find<QTreeWidget>("cureList");
        QTRY_VERIFY(list->topLevelItemCount() > 0);
        QVERIFY2(list->topLevelItem(0)->text(1).endsWith("predicted"),
                 qPrintable(list->topLevelItem(0)->text(1)));
        list->topLevelItem(0)->setCheckState(0, Qt::Checked);
        settle();
        QTRY_VERIFY2(list->topLevelItem(0)->text(1).endsWith("measured"),
                     qPrintable(list->topLevelItem(0)->text(1)));
        const auto gain = workspace().live().gain();
        QVERIFY(gain);
        QVERIFY2(list->topLevelItem(0)->text(1).startsWith(
                     QStringLiteral("%1%2 dB").arg(*gain < 0 ? "" : "+").arg(*gain, 0, 'f', 1)),
                 qPrintable(list->topLevelItem(0)->text(1)));
    }
};

QTEST_MAIN(TestCureNumbers)
#include "tst_ui_cure_numbers.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/sha256.h"
#include "engine/configure/json/cure_json.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/edge_window.h"
#include "ui/cure/front_plot.h"
#include "ui/frame/actions.h"
#include "ui/shell/dialogs/run_dialogs.h"

#include <QAction>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QPushButton>
#include <QSettings>

#include <filesystem>

using namespace qs;

/// The Cure page on the real engine and the digits sample, beside `quantscope tune`.
class TestCureNumbers : public test::EdgeWindow
{
    Q_OBJECT

    static constexpr double kGoal = 45; ///< dB, which the sample misses after four trials

    CureSearch& search() { return workspace().cureSearch(); }
    QPushButton& button(const char* name) { return *find<QPushButton>(name); }
    void runSearch()
    {
        find<QDoubleSpinBox>("cureGoal")->setValue(kGoal);
        QTest::mouseClick(&button("cureRun"), Qt::LeftButton);
        QVERIFY(search().isRunning());
        QTRY_VERIFY_WITH_TIMEOUT(search().phase() == CureSearch::Phase::Ended && settled(), 60000);
        QVERIFY2(search().problem().isEmpty(), qPrintable(search().problem()));
    }
    /// The document of `tune --json` on these decisions.
    QJsonObject toldByTune(const Recipe& recipe)
    {
        QFile file(m_folder.filePath("start.json"));
        const QByteArray text = QByteArray::fromStdString(recipeToJson(recipe));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("the recipe cannot be written");
        file.close();
        QProcess process;
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                      {"tune", kDigits, "--recipe", file.fileName(), "--data",
                       QString::fromStdString(document().settings().calibrationData), "--device",
                       "cpu", "--goal", "sqnr 45", "--out", m_folder.filePath("tuned.json"),
                       "--json"});
        if (!process.waitForFinished(120000))
            qFatal("tune does not end");
        return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    }
    /// The cures with the names of their files alone, which stand in different folders.
    static std::vector<Cure> withFileNames(std::vector<Cure> cures)
    {
        for (Cure& cure : cures)
            cure.file = std::filesystem::path(cure.file).filename().string();
        return cures;
    }
    static QJsonArray withFileNames(const QJsonArray& cures)
    {
        QJsonArray out;
        for (const QJsonValue& cure : cures) {
            QJsonObject one = cure.toObject();
            if (one.contains("file"))
                one["file"] = QFileInfo(one["file"].toString()).fileName();
            out.append(one);
        }
        return out;
    }
    static std::string textOf(Recipe recipe)
    {
        recipe.cures = withFileNames(std::move(recipe.cures));
        return recipeToJson(recipe);
    }
    static void compareFigures(const TrialFigures& shown, const QJsonObject& told)
    {
        QCOMPARE(shown.db, told["sqnr_db"].toDouble());
        QCOMPARE(shown.cosine, told["cosine"].toDouble());
        QCOMPARE(shown.noiseError, told["noise_error"].toDouble());
        const QJsonArray outputs = told["by_output"].toArray();
        QCOMPARE(shown.byOutput.size(), std::size_t(outputs.size()));
        for (std::size_t i = 0; i < shown.byOutput.size(); ++i)
            QCOMPARE(shown.byOutput[i], outputs[int(i)].toDouble());
    }
    inline static const QString kDigits = test::kSamples + "digits.pt2";

private Q_SLOTS:
    void initTestCase()
    {
        QSettings().clear();
        openAndCompare();
        m_window->actions()[ActionId::ShowCure].trigger();
    }
    void cleanupTestCase()
    {
        m_window.reset();
        QDir(test::kSamples + "digits.cures").removeRecursively();
    }

    void trialsAreTheCommandLines()
    {
        runSearch();
        const TuneState& state = search().state();
        const QJsonObject told = toldByTune(m_start);
        const QJsonArray trials = told["trials"].toArray();
        QVERIFY2(trials.size() > 2, qPrintable(QString::number(trials.size())));
        QCOMPARE(state.trials.size(), std::size_t(trials.size()));
        QTRY_COMPARE(find<FrontPlot>("frontPlot")->dotCount(), int(trials.size()));
        for (std::size_t i = 0; i < state.trials.size(); ++i) {
            const QJsonObject trial = trials[int(i)].toObject();
            const Trial& shown = state.trials[i];
            QCOMPARE(QString::fromStdString(shown.stage), trial["stage"].toString());
            compareFigures(shown.search, trial["search"].toObject());
            compareFigures(shown.guard, trial["guard"].toObject());
            QCOMPARE(shown.int8Macs, trial["int8_macs"].toDouble());
            QCOMPARE(shown.reached, trial["reached"].toBool());
            QCOMPARE(shown.forwards, std::int64_t(trial["forwards"].toInt()));
            QCOMPARE(shown.predictedDb.has_value(), trial["predicted_db"].isDouble());
            if (shown.predictedDb)
                QCOMPARE(*shown.predictedDb, trial["predicted_db"].toDouble());
            const std::string cures = curesToJson(withFileNames(shown.cures)).dump();
            QCOMPARE(QJsonDocument::fromJson(QByteArray::fromStdString(cures)).array(),
                     withFileNames(trial["cures"].toArray()));
        }
        QCOMPARE(state.best, std::size_t(told["best"].toInt()));
        QCOMPARE(QString::fromStdString(state.stopped), told["stopped"].toString());
        const QJsonArray causes = told["causes"].toArray();
        QCOMPARE(state.causes.size(), std::size_t(causes.size()));
        for (std::size_t i = 0; i < state.causes.size(); ++i)
            QCOMPARE(state.causes[i].share, causes[int(i)].toObject()["share"].toDouble());
        for (std::size_t i = 0; i < state.blame->sites.size(); ++i)
            QCOMPARE(state.blame->sites[i].expected,
                     told["blame"].toArray()[int(i)].toObject()["share"].toDouble());
    }

    void theTakenRecipeIsTheWrittenOne()
    {
        const int from = workspace().undoStack().index();
        QTest::mouseClick(&button("cureTake"), Qt::LeftButton);
        QCOMPARE(workspace().undoStack().index(), from + 1);
        settle();
        const auto written = readRecipe(m_folder.filePath("tuned.json").toStdString());
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

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/sha256.h"
#include "engine/configure/json/cure_json.h"
#include "tests/ui/edge_window.h"
#include "ui/cure/front_plot.h"
#include "ui/frame/actions.h"
#include "ui/session/text.h"

#include <QAction>
#include <QCheckBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>

#include <filesystem>

namespace qs::test {

/// The Cure page on the real engine and the digits sample, beside `quantscope tune`.
class TunedWindow : public EdgeWindow
{
protected:
    inline static const QString kDigits = kSamples + "digits.pt2";

    CureSearch& search() { return workspace().cureSearch(); }
    QPushButton& button(const char* name) { return *find<QPushButton>(name); }
    void openPage()
    {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
        forgetSearches();
        openAndCompare();
        m_window->actions()[ActionId::ShowCure].trigger();
    }
    void closePage()
    {
        m_window.reset();
        QDir(kSamples + "digits.cures").removeRecursively();
        forgetSearches();
    }
    /// Removes the trials that other windows measured.
    static void forgetSearches()
    {
        QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + "/searches")
            .removeRecursively();
    }
    void runSearch()
    {
        QTest::mouseClick(&button("cureRun"), Qt::LeftButton);
        QVERIFY(search().isRunning());
        waitForEnd();
    }
    void waitForEnd()
    {
        QTRY_VERIFY_WITH_TIMEOUT(search().phase() == CureSearch::Phase::Ended && settled(), 120000);
        QVERIFY2(search().problem().isEmpty(), qPrintable(search().problem()));
    }
    QString tunedFile() { return m_folder.filePath("tuned.json"); }
    /// The document of `tune --json` for the page's request, with further words.
    QJsonObject toldByTune(const QStringList& words = {})
    {
        const TuneRequest& request = search().request();
        QFile file(m_folder.filePath("start.json"));
        const QByteArray text = QByteArray::fromStdString(recipeToJson(request.recipe));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("the recipe cannot be written");
        file.close();
        QStringList all {"tune",        kDigits,
                         "--recipe",    file.fileName(),
                         "--data",      toQString(request.settings.calibrationData),
                         "--device",    "cpu",
                         "--goal",      toQString(goalText(request.goal)),
                         "--keep-int8", QString::number(100 * request.keepInt8),
                         "--out",       tunedFile(),
                         "--json"};
        if (!request.settings.comparisonData.empty())
            all << "--compare-on" << toQString(request.settings.comparisonData);
        QProcess process;
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"), all + words);
        if (!process.waitForFinished(240000))
            qFatal("tune does not end");
        return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    }
    /// The cures with the names of their files alone, which stand in different folders.
    static std::vector<Cure> withFileNames(std::vector<Cure> cures)
    {
        for (Cure& cure : cures)
            cure.file = cure.kind == CureKind::Train
                ? "trained"
                : std::filesystem::path(cure.file).filename().string();
        return cures;
    }
    static QJsonArray withFileNames(const QJsonArray& cures)
    {
        QJsonArray out;
        for (const QJsonValue& cure : cures) {
            QJsonObject one = cure.toObject();
            if (one.contains("file"))
                one["file"] = one["cure"] == QLatin1String("train")
                    ? QStringLiteral("trained")
                    : QFileInfo(one["file"].toString()).fileName();
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
        QCOMPARE(shown.metric.has_value(), told["metric"].isDouble());
        if (shown.metric)
            QCOMPARE(*shown.metric, told["metric"].toDouble());
        QCOMPARE(shown.top1Drop.has_value(), told["top1_drop"].isDouble());
        if (shown.top1Drop)
            QCOMPARE(*shown.top1Drop, told["top1_drop"].toDouble());
        const QJsonArray outputs = told["by_output"].toArray();
        QCOMPARE(shown.byOutput.size(), std::size_t(outputs.size()));
        for (std::size_t i = 0; i < shown.byOutput.size(); ++i)
            QCOMPARE(shown.byOutput[i], outputs[int(i)].toDouble());
    }
    static void compareTrial(const Trial& shown, const QJsonObject& trial)
    {
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
    static void compareFront(const std::vector<PredictedPoint>& shown, const QJsonArray& told)
    {
        QCOMPARE(shown.size(), std::size_t(told.size()));
        for (std::size_t i = 0; i < shown.size(); ++i) {
            QCOMPARE(shown[i].int8Macs, told[int(i)].toObject()["int8_macs"].toDouble());
            QCOMPARE(shown[i].db, told[int(i)].toObject()["db"].toDouble());
        }
    }
    /// Every figure of the search, and the recipe that taking its best gives.
    void compareSearch(const QJsonObject& told)
    {
        const TuneState& state = search().state();
        const QJsonArray trials = told["trials"].toArray();
        QCOMPARE(state.trials.size(), std::size_t(trials.size()));
        QTRY_COMPARE(find<FrontPlot>("frontPlot")->dotCount(), int(trials.size()));
        for (std::size_t i = 0; i < state.trials.size(); ++i)
            compareTrial(state.trials[i], trials[int(i)].toObject());
        QCOMPARE(state.best, std::size_t(told["best"].toInt()));
        QCOMPARE(QString::fromStdString(state.stopped), told["stopped"].toString());
        const QJsonArray causes = told["causes"].toArray();
        QCOMPARE(state.causes.size(), std::size_t(causes.size()));
        for (std::size_t i = 0; i < state.causes.size(); ++i)
            QCOMPARE(state.causes[i].share, causes[int(i)].toObject()["share"].toDouble());
        const std::size_t sites = state.blame ? state.blame->sites.size() : 0;
        QCOMPARE(sites, std::size_t(told["blame"].toArray().size()));
        for (std::size_t i = 0; i < sites; ++i)
            QCOMPARE(state.blame->sites[i].expected,
                     told["blame"].toArray()[int(i)].toObject()["share"].toDouble());
        compareFront(state.front, told["predicted_front"].toArray());
        const auto written = readRecipe(tunedFile().toStdString());
        QVERIFY2(written, written ? "" : written.error().line().c_str());
        QCOMPARE(textOf(search().recipeOf(state.best)), textOf(*written));
    }
};

} // namespace qs::test

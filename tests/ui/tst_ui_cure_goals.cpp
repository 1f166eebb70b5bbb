// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/file_hash.h"
#include "tests/ui/tuned_window.h"
#include "ui/session/jobs/metric_runner.h"
#include "ui/shell/project_files.h"

#include <QRandomGenerator>

using namespace qs;

/// Other goals of the Cure page, its training, its gestures in any order, and what later windows
/// and exports know of a search.
class TestCureGoals : public test::TunedWindow
{
    Q_OBJECT

    void setGoal(TuneGoal::Kind kind, double value)
    {
        find<QComboBox>("cureGoalKind")->setCurrentIndex(int(kind));
        find<QDoubleSpinBox>("cureGoal")->setValue(value);
    }
    QString note() { return find<QLabel>("cureNote")->text(); }
    QString scoreCommand()
    {
        return metricCommand("score.py", "float(numpy.sort(scores, 1)[:, -1].mean())");
    }
    QJsonObject searchIn(const std::shared_ptr<const ResultDocument::Json>& summary)
    {
        return summary
            ? QJsonDocument::fromJson(QByteArray::fromStdString(summary->dump())).object()
            : QJsonObject();
    }

private Q_SLOTS:
    void initTestCase() { openPage(); }
    void cleanupTestCase() { closePage(); }
    void init()
    {
        startAgain();
        forgetSearches();
        find<QCheckBox>("cureTrains")->setChecked(false);
        find<QSpinBox>("cureKeepInt8")->setValue(80);
    }

    void theUsersMetricIsAGoal()
    {
        setGoal(TuneGoal::Kind::Metric, 1000);
        QTRY_VERIFY2(note().startsWith("Set your metric first"), qPrintable(note()));
        QVERIFY(!button("cureRun").isEnabled());
        const QString command = scoreCommand();
        workspace().metric().setCommand(command);
        QTRY_VERIFY(button("cureRun").isEnabled());
        runSearch();
        compareSearch(toldByTune({"--eval", command}));
        const Trial& best = *search().best();
        QVERIFY(best.guard.metric);
        QTRY_VERIFY2(
            note().contains(QStringLiteral("metric %1").arg(*best.guard.metric, 0, 'g', 6)),
            qPrintable(note()));
    }

    void theDropOfTop1IsAGoal()
    {
        setGoal(TuneGoal::Kind::Top1Drop, 0);
        runSearch();
        compareSearch(toldByTune());
    }

    void aTrainingIsTheLastTrial()
    {
        setGoal(TuneGoal::Kind::Sqnr, 60);
        find<QCheckBox>("cureTrains")->setChecked(true);
        runSearch();
        compareSearch(toldByTune({"--allow", "all"}));
        const auto& trials = search().state().trials;
        QCOMPARE(trials.back().stage, std::string("train"));
        search().take(trials.size() - 1);
        settle();
        const Cure* training = trainingOf(document().recipe());
        QVERIFY(training);
        QCOMPARE(fileSha256(training->file).value_or(""), training->sha256);
        workspace().undoStack().undo();
        settle();
        QVERIFY(!trainingOf(document().recipe()));
    }

    void exportsTellWhatFixedIt()
    {
        setGoal(TuneGoal::Kind::Sqnr, 37);
        runSearch();
        QVERIFY(workspace().pipeline().exportRequest().search == nullptr);
        search().take(search().state().best);
        settle();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const QJsonObject shown = searchIn(workspace().pipeline().exportRequest().search);
        QVERIFY(!shown["steps"].toArray().isEmpty());
        toldByTune();
        QProcess process;
        const QString folder = m_folder.filePath("exported");
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                      {"quantize", kDigits, "--recipe", tunedFile(), "--data",
                       toQString(document().settings().calibrationData), "--device", "cpu",
                       "--export", "pt2-reference", "--out", folder});
        QVERIFY(process.waitForFinished(120000));
        QFile file(folder + "/result.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject told
            = QJsonDocument::fromJson(file.readAll()).object()["search"].toObject();
        QCOMPARE(shown, told);
        // A saved project still knows it in a window without a search.
        const QString project = m_folder.filePath("cured.project");
        QVERIFY(m_window->projects().saveTo(project));
        settle();
        forgetSearches();
        m_window->openModel(project);
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(document().comparison(), 60000);
        settle();
        QCOMPARE(searchIn(workspace().pipeline().exportRequest().search), told);
        m_window->actions()[ActionId::ShowCure].trigger();
    }

    void aLaterWindowContinues()
    {
        setGoal(TuneGoal::Kind::Sqnr, 45);
        runSearch();
        const std::size_t trials = search().state().trials.size();
        // A figure that no measurement gives shows where the later window has it from.
        const QDir all(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)
                       + "/searches");
        const QStringList folders = all.entryList(QDir::Dirs | QDir::NoDotAndDotDot);
        QCOMPARE(folders.size(), 1);
        QFile file(all.filePath(folders.front() + "/search.tune.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QJsonObject told = QJsonDocument::fromJson(file.readAll()).object();
        file.close();
        QJsonArray list = told["trials"].toArray();
        QJsonObject first = list[0].toObject(), guard = first["guard"].toObject();
        guard["cosine"] = 0.25; // which does not steer this search
        first["guard"] = guard;
        list[0] = first;
        told["trials"] = list;
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QJsonDocument(told).toJson());
        file.close();
        const RunSettings settings = document().settings();
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 860);
        m_window->show();
        m_window->openModel(kDigits);
        settle();
        document().setSettings(settings);
        workspace().change("few batches", m_start);
        settle();
        m_window->actions()[ActionId::ShowCure].trigger();
        setGoal(TuneGoal::Kind::Sqnr, 45);
        runSearch();
        QCOMPARE(search().state().trials.size(), trials);
        QCOMPARE(search().state().trials.front().guard.cosine, 0.25);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
    }

    /// Gestures in any order: whatever search ends, its numbers are those of `tune --json`.
    void gesturesInAnyOrder_data()
    {
        QTest::addColumn<quint32>("seed");
        for (const quint32 seed : {11U, 12U, 13U})
            QTest::addRow("%u", seed) << seed;
    }
    void gesturesInAnyOrder()
    {
        QFETCH(const quint32, seed);
        QRandomGenerator random(seed);
        const auto chance = [&random](int of) { return random.bounded(of) == 0; };
        const std::vector<std::string> modules {"stem", "block1", "head", "block1.conv2"};
        for (int round = 0; round < 2; ++round) {
            if (chance(2))
                workspace().assign({RuleKind::ModuleName, {modules[random.bounded(4)]}},
                                   std::string());
            if (chance(2))
                setGoal(TuneGoal::Kind::Cosine, 0.9995 + 0.0001 * random.bounded(4));
            else
                setGoal(TuneGoal::Kind::Sqnr, 34 + random.bounded(8));
            find<QSpinBox>("cureKeepInt8")->setValue(50 + 10 * random.bounded(6));
            QTest::mouseClick(&button("cureRun"), Qt::LeftButton);
            for (int gesture = 0; gesture < 4; ++gesture) {
                QTest::qWait(random.bounded(300));
                if (search().isRunning() && chance(2))
                    QTest::mouseClick(&button("curePause"), Qt::LeftButton);
                else if (search().phase() == CureSearch::Phase::Paused)
                    QTest::mouseClick(&button("cureRun"), Qt::LeftButton);
                else if (chance(2) && !search().state().trials.empty())
                    search().take(random.bounded(quint32(search().state().trials.size())));
                else
                    workspace().undoStack().undo();
            }
            if (search().phase() == CureSearch::Phase::Paused)
                QTest::mouseClick(&button("cureRun"), Qt::LeftButton);
            waitForEnd();
            compareSearch(toldByTune());
        }
    }
};

QTEST_MAIN(TestCureGoals)
#include "tst_ui_cure_goals.moc"

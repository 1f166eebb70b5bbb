// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edge_window.h"
#include "ui/frame/actions.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/shell/bars/stage_button.h"
#include "ui/shell/dialogs/train_dialog.h"
#include "ui/shell/project_files.h"

#include <QAction>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>

using namespace qs;

Q_DECLARE_METATYPE(std::function<void(qs::TrainingChoices&)>)

/// Training in the window on the real engine, beside the command line.
class TestTrainedHere : public test::EdgeWindow
{
    Q_OBJECT

    std::vector<std::string> weights()
    {
        std::vector<std::string> all;
        for (const NodePtr& node : graph().nodes())
            if (node->kind == NodeKind::Parameter)
                all.push_back(node->target + " " + node->tensorSha256);
        return all;
    }

    ModelTrainer& trainer() { return workspace().trainer(); }
    QString file(const char* name) { return m_folder.filePath(QString::fromLatin1(name)); }
    bool isEnded() { return !trainer().isRunning() && settled(); }
    static QByteArray bytes(const QString& path)
    {
        QFile file(path);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    void calibrateOn(const QString& data)
    {
        RunSettings settings = document().settings();
        settings.calibrationData = data.toStdString();
        document().setSettings(settings);
        settle();
    }
    void train(const TrainingChoices& choices)
    {
        trainer().start(choices);
        QTRY_VERIFY_WITH_TIMEOUT(isEnded(), 120000);
    }
    /// Trains, and stops once a step was better than the start.
    void trainInPart(const TrainingChoices& choices)
    {
        const auto stop = connect(&trainer(), &ModelTrainer::changed, this, [this] {
            if (trainer().isRunning() && trainer().training().best > 0)
                trainer().cancel();
        });
        train(choices);
        disconnect(stop);
        QVERIFY2(trainer().resultText().endsWith("(cancelled)"),
                 qPrintable(trainer().resultText()));
        QVERIFY(QFileInfo::exists(checkpointOf(choices.file)));
    }
    TrainDialog* openDialog(const QString& path)
    {
        m_window->actions()[ActionId::Train].trigger();
        auto* dialog = m_window->findChild<TrainDialog*>();
        if (dialog)
            find<QLineEdit>("trainFile")->setText(path);
        return dialog;
    }
    /// Writes the model that the command line trains with these decisions.
    void trainThere(const QStringList& options, const QString& folder)
    {
        QFile recipe(file("train.json"));
        QVERIFY(recipe.open(QIODevice::WriteOnly));
        recipe.write(QByteArray::fromStdString(recipeToJson(document().recipe())));
        recipe.close();
        QProcess process;
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                      QStringList {"train", test::kSamples + "digits.pt2", "--recipe",
                                   recipe.fileName(), "--data",
                                   QString::fromStdString(document().settings().calibrationData),
                                   "--device", "cpu", "--out", folder}
                          + options);
        QVERIFY(process.waitForFinished(120000));
        QVERIFY2(process.exitCode() == 0, process.readAllStandardError().constData());
    }

private Q_SLOTS:
    void initTestCase()
    {
        QSettings().clear();
        openAndCompare();
    }
    void cleanupTestCase() { m_window.reset(); }

    void qconfigsForTrainingShowTheStage()
    {
        auto* stage = find<StageButton>("stageTrain");
        QVERIFY(!stage->isVisible());
        workspace().assign({RuleKind::Global, {""}}, std::string("x86_qat"));
        settle();
        QTRY_VERIFY(stage->isVisible());
        QCOMPARE(stage->status().state, StageStatus::State::Waiting);
        startAgain();
        QTRY_VERIFY(!stage->isVisible());
    }

    void theResultIsTheCommandLines()
    {
        const auto before = weights();
        const Recipe untrained = document().recipe();
        const double db = *document().comparison()->outputDb();
        TrainingChoices choices;
        choices.training.steps = 200;
        choices.file = m_folder.filePath("digits.trained.pt2");
        workspace().trainer().start(choices);
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().trainer().isRunning() && settled(), 120000);
        QVERIFY2(QFileInfo::exists(choices.file), qPrintable(workspace().trainer().resultText()));
        QVERIFY2(document().recipe().cures.size() == 1,
                 qPrintable(workspace().trainer().resultText()));
        QVERIFY(weights() != before);
        for (const CureRow& row : cureRows(document()))
            QCOMPARE(row.problem, QString());
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const double trained = *document().comparison()->outputDb();
        const QJsonObject told = m_commandLine.quantize(document().recipe(), document().settings());
        const QJsonObject output = told["outputs"].toArray()[0].toObject();
        QVERIFY(sameNumber(trained, output["lowered"].toObject()["sqnr_db"].toDouble()));
        QVERIFY2(trained > db, qPrintable(QStringLiteral("%1 to %2").arg(db).arg(trained)));
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe() == untrained);
        QVERIFY(weights() == before);
        QTRY_VERIFY(document().comparison() && !document().isStale(Stage::Compare));
        QCOMPARE(*document().comparison()->outputDb(), db);
    }

    void theOptionsAreTheCommandLines_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<std::function<void(TrainingChoices&)>>("choose");
        using Choose = std::function<void(TrainingChoices&)>;
        QTest::newRow("usual") << QStringList() << Choose([](TrainingChoices&) {});
        QTest::newRow("labels") << QStringList {"--loss", "labels",  "--lr",
                                                "0.0005", "--guard", "40%"}
                                << Choose([](TrainingChoices& choices) {
                                       choices.training.loss = TrainingLoss::Labels;
                                       choices.training.rate = 0.0005;
                                       choices.training.guard = 0.4;
                                   });
        QTest::newRow("scales") << QStringList {"--learn-scales", "--no-guard", "--freeze-bn",
                                                "never"}
                                << Choose([](TrainingChoices& choices) {
                                       choices.training.learnsScales = true;
                                       choices.training.guard = 0;
                                       choices.training.freezeBatchNorms.reset();
                                   });
        QTest::newRow("scratch") << QStringList {"--from-scratch", "--freeze-bn", "10"}
                                 << Choose([](TrainingChoices& choices) {
                                        choices.fromScratch = true;
                                        choices.training.freezeBatchNorms = 10;
                                    });
    }
    void theOptionsAreTheCommandLines()
    {
        QFETCH(QStringList, words);
        QFETCH(std::function<void(TrainingChoices&)>, choose);
        const QString tag = QString::fromLatin1(QTest::currentDataTag());
        calibrateOn(test::kSamples + "test.npz"); // with labels
        if (tag == "scratch")
            workspace().assign({RuleKind::Global, {""}}, std::string("x86_qat"));
        settle();
        const QString folder = file("there-") + tag;
        trainThere(words + QStringList {"--steps", "40"}, folder);
        // By the fields of the dialog, which have to give the same choices.
        TrainingChoices choices;
        choices.training.steps = 40;
        choose(choices);
        choices.file = file("here-") + tag + ".pt2";
        QVERIFY(openDialog(choices.file));
        QTRY_VERIFY(settled());
        const TrainingSettings& wanted = choices.training;
        find<QSpinBox>("trainSteps")->setValue(40);
        find<QComboBox>("trainFrom")->setCurrentIndex(choices.fromScratch);
        find<QComboBox>("trainLoss")->setCurrentIndex(wanted.loss == TrainingLoss::Labels);
        find<QCheckBox>("trainScales")->setChecked(wanted.learnsScales);
        find<QLineEdit>("trainRate")->setText(wanted.rate ? "0.0005" : "");
        find<QSpinBox>("trainGuard")->setValue(qRound(100 * wanted.guard));
        find<QSpinBox>("trainNorms")->setValue(wanted.freezeBatchNorms.value_or(-1));
        QTest::mouseClick(find<QPushButton>("trainStart"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(isEnded(), 120000);
        QVERIFY2(QFileInfo::exists(choices.file), qPrintable(trainer().resultText()));
        QVERIFY(bytes(choices.file) == bytes(folder + "/model.pt2"));
        m_window->findChild<TrainDialog*>()->close();
        QTRY_VERIFY(!m_window->findChild<TrainDialog*>());
        startAgain();
        calibrateOn(test::kSamples + "calib.npz");
    }

    void whatAScratchCannotStart()
    {
        TrainingChoices choices;
        choices.fromScratch = true;
        choices.file = file("scratch.pt2");
        train(choices);
        QVERIFY2(trainer().resultText().contains("gives a range only by a calibration"),
                 qPrintable(trainer().resultText()));
        QVERIFY(document().recipe() == m_start);
    }

    void aResumedTrainingIsTheWholeOne()
    {
        TrainingChoices choices;
        choices.training.steps = 120;
        choices.training.seed = 3;
        choices.training.learnsScales = true;
        choices.file = file("whole.pt2");
        train(choices);
        const QByteArray whole = bytes(choices.file);
        QVERIFY2(!whole.isEmpty(), qPrintable(trainer().resultText()));
        workspace().undoStack().undo();
        settle();
        choices.file = file("part.pt2");
        trainInPart(choices);
        QVERIFY(bytes(choices.file) != whole);
        const Recipe stopped = document().recipe();

        // Other options are refused, and nothing changes.
        choices.resumes = true;
        choices.training.steps = 130;
        train(choices);
        QVERIFY2(trainer().resultText().contains("it is of another training"),
                 qPrintable(trainer().resultText()));
        QVERIFY(document().recipe() == stopped);
        settle();

        // After the window was closed.
        const QString project = file("stopped.json");
        QVERIFY(m_window->projects().saveTo(project));
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 860);
        m_window->show();
        m_window->openModel(project);
        settle();
        QVERIFY(openDialog(choices.file));
        QTRY_COMPARE(find<QSpinBox>("trainSteps")->value(), 120);
        QVERIFY2(find<QLabel>("trainNote")->text().contains("of 120"),
                 qPrintable(find<QLabel>("trainNote")->text()));
        QTest::mouseClick(find<QPushButton>("trainResume"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(isEnded(), 120000);
        QVERIFY2(bytes(choices.file) == whole, qPrintable(trainer().resultText()));
        QVERIFY(!QFileInfo::exists(checkpointOf(choices.file)));
        QCOMPARE(document().recipe().cures.size(), std::size_t(1));
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe().cures.empty());
    }
};

QTEST_MAIN(TestTrainedHere)
#include "tst_ui_training_result.moc"

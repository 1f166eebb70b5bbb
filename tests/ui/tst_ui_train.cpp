// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/tour/picture_check.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/plots/training_plot.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/session/text.h"
#include "ui/shell/bars/stage_button.h"
#include "ui/shell/dialogs/train_dialog.h"
#include "ui/shell/project_files.h"
#include "ui/style/window_style.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

/// Training in the window on an engine that waits and fails at will.
class TestTrainDialog : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

    QTemporaryDir m_folder;

    Document& document() { return workspace().document(); }
    ModelTrainer& trainer() { return workspace().trainer(); }
    QAction& action(ActionId id) { return m_window->actions()[id]; }
    StageButton& stage() { return *find<StageButton>("stageTrain"); }
    TrainingPlot& plot() { return *find<TrainingPlot>("trainingPlot"); }
    QString summary() { return find<QLabel>("trainSummary")->text(); }
    QString problem() { return find<QLabel>("trainProblem")->text(); }
    QString file(const char* name) { return m_folder.filePath(QString::fromLatin1(name)); }
    TrainDialog* dialog() { return m_window->findChild<TrainDialog*>(); }
    void click(const char* name) { QTest::mouseClick(find<QPushButton>(name), Qt::LeftButton); }
    /// Opens the dialog with 100 steps and this file.
    void openDialog(const QString& path)
    {
        action(ActionId::Train).trigger();
        QVERIFY(dialog() && dialog()->isVisible());
        find<QSpinBox>("trainSteps")->setValue(100);
        find<QLineEdit>("trainFile")->setText(path);
    }
    void trainTo(const char* name)
    {
        openDialog(file(name));
        click("trainStart");
        QTRY_VERIFY(!trainer().isRunning() && settled());
        dialog()->close();
        QTRY_VERIFY(!dialog());
    }

private Q_SLOTS:
    void init()
    {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
        m_engine.waitInTraining = m_engine.failTraining = m_engine.waitInCalibration = false;
        m_engine.trainings = 0;
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1366, 768);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
    }
    void cleanup()
    {
        m_engine.waitInTraining = m_engine.waitInCalibration = false;
        m_window.reset();
        applyStyle(*qApp, {});
    }

    void itNeedsAModelWithData()
    {
        QVERIFY(action(ActionId::Train).isEnabled());
        QVERIFY(!stage().isVisible());
        RunSettings none = document().settings();
        none.calibrationData.clear();
        document().setSettings(none);
        QVERIFY(!action(ActionId::Train).isEnabled());
        MainWindow empty(m_engine);
        QVERIFY(!empty.actions()[ActionId::Train].isEnabled());
    }

    void aTrainingIsOneStep()
    {
        const Recipe before = document().recipe();
        const int steps = workspace().undoStack().index();
        openDialog(file("one.pt2"));
        QCOMPARE(plot().pointCount(), 0);
        click("trainStart");
        QTRY_VERIFY(!trainer().isRunning() && settled());
        QCOMPARE(plot().pointCount(), 11);
        QCOMPARE(plot().markedStep(), 80);
        QCOMPARE(summary(), QStringLiteral("34.2 to 36.1 dB on 32 guard samples"));
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("train: ") + summary());
        const std::vector<Cure> cures = document().recipe().cures;
        QCOMPARE(cures.size(), std::size_t(1));
        QCOMPARE(cures[0].kind, CureKind::Train);
        QCOMPARE(toQString(cures[0].file), file("one.pt2"));
        QCOMPARE(cures[0].sha256.size(), std::size_t(64));
        QVERIFY(stage().isVisible());
        QCOMPARE(stage().status().state, StageStatus::State::Done);
        QCOMPARE(stage().status().text, QStringLiteral("34.2 to 36.1 dB · 32 guard samples"));
        // The file is in use: another training goes elsewhere.
        QVERIFY(find<QLineEdit>("trainFile")->text() != file("one.pt2"));
        find<QLineEdit>("trainFile")->setText(file("one.pt2"));
        QVERIFY(!find<QPushButton>("trainStart")->isEnabled());
        QVERIFY2(problem().startsWith("The recipe's training is in this file"),
                 qPrintable(problem()));
        dialog()->close();
        workspace().undoStack().undo();
        QTRY_VERIFY(settled());
        QVERIFY(document().recipe() == before);
        QVERIFY(!stage().isVisible());
    }

    void aNewTrainingReplacesTheEarlier()
    {
        trainTo("first.pt2");
        const Recipe first = document().recipe();
        trainTo("second.pt2");
        QCOMPARE(document().recipe().cures.size(), std::size_t(1));
        QCOMPARE(toQString(document().recipe().cures[0].file), file("second.pt2"));
        workspace().undoStack().undo();
        QVERIFY(document().recipe() == first);
    }

    void pointsArriveAndStopKeepsTheBest()
    {
        m_engine.waitInTraining = true;
        openDialog(file("stopped.pt2"));
        find<QPushButton>("trainStart")->setFocus();
        QTest::keyClick(find<QPushButton>("trainStart"), Qt::Key_Return);
        QTRY_COMPARE(plot().pointCount(), 4);
        QCOMPARE(plot().markedStep(), 30);
        QVERIFY2(summary().startsWith("step 30 of 100"), qPrintable(summary()));
        QVERIFY(stage().isVisible());
        QCOMPARE(stage().status().state, StageStatus::State::Running);
        QVERIFY(!find<QSpinBox>("trainSteps")->isEnabled());
        QVERIFY(!find<QPushButton>("trainStart")->isVisible());
        QCOMPARE(dialog()->focusWidget(), find<QWidget>("trainCancel"));
        QTest::keyClick(find<QPushButton>("trainCancel"), Qt::Key_Space);
        QTRY_VERIFY(!trainer().isRunning() && settled());
        QCOMPARE(summary(), QStringLiteral("34.2 to 35.1 dB on 32 guard samples (cancelled)"));
        QCOMPARE(document().recipe().cures.size(), std::size_t(1));
        QVERIFY(find<QPushButton>("trainStart")->isVisible());
    }

    void closingTheDialogDoesNotStopIt()
    {
        m_engine.waitInTraining = true;
        openDialog(file("closed.pt2"));
        click("trainStart");
        QTRY_COMPARE(plot().pointCount(), 4);
        QTest::keyClick(dialog(), Qt::Key_Escape);
        QTRY_VERIFY(!dialog());
        QVERIFY(trainer().isRunning());
        QTest::mouseClick(&stage(), Qt::LeftButton); // its stage shows it again
        QVERIFY(dialog() && dialog()->isVisible());
        QCOMPARE(plot().pointCount(), 4);
        QCOMPARE(find<QLineEdit>("trainFile")->text(), file("closed.pt2"));
        QCOMPARE(find<QSpinBox>("trainSteps")->value(), 100);
        dialog()->close();
        QTRY_VERIFY(!dialog());
        action(ActionId::Cancel).trigger();
        QTRY_VERIFY(!trainer().isRunning() && settled());
        QCOMPARE(document().recipe().cures.size(), std::size_t(1));
    }

    void itWaitsForTheCalibration()
    {
        m_engine.waitInCalibration = true;
        openDialog(file("waits.pt2"));
        click("trainStart");
        QTRY_VERIFY(workspace().pipeline().running() == Stage::Calibrate);
        QCOMPARE(summary(), QStringLiteral("calibrating first"));
        click("trainCancel");
        QTRY_VERIFY(!trainer().isRunning() && settled());
        QCOMPARE(summary(), QString());
        QCOMPARE(int(m_engine.trainings), 0);
        click("trainStart");
        QTRY_VERIFY(workspace().pipeline().running() == Stage::Calibrate);
        m_engine.waitInCalibration = false;
        QTRY_VERIFY(!trainer().isRunning() && settled());
        QCOMPARE(int(m_engine.trainings), 1);
    }

    void anotherGraphDropsIt()
    {
        m_engine.waitInTraining = true;
        openDialog(file("dropped.pt2"));
        click("trainStart");
        QTRY_COMPARE(plot().pointCount(), 4);
        Q_EMIT document().graphEdited();
        QTRY_VERIFY(!trainer().isRunning() && settled());
        QCOMPARE(summary(), QStringLiteral("Stopped: the graph is another one now."));
        QVERIFY(document().recipe().cures.empty());
    }

    void failuresAreShown()
    {
        m_engine.failTraining = true;
        openDialog(file("failed.pt2"));
        click("trainStart");
        QTRY_VERIFY(!trainer().isRunning() && settled());
        QVERIFY2(summary().contains("not finite at step 1"), qPrintable(summary()));
        dialog()->close();
        QTRY_VERIFY(!dialog());
        TrainingChoices choices;
        choices.file = file("failed.pt2");
        trainer().start(choices); // as if the dialog had been closed meanwhile
        QTRY_COMPARE(m_window->messageBar().headline(), QStringLiteral("Training failed"));
        QVERIFY(document().recipe().cures.empty());
    }

    void filesThatCannotBeWritten()
    {
        openDialog(file("good.pt2"));
        QVERIFY(find<QPushButton>("trainStart")->isEnabled());
        for (const auto& [path, words] :
             {std::pair(QString(), "Name a file"),
              {m_folder.path(), "This is a folder"},
              {file("none/x.pt2"), "The folder of this file does not exist"}}) {
            find<QLineEdit>("trainFile")->setText(path);
            QVERIFY(!find<QPushButton>("trainStart")->isEnabled());
            QVERIFY2(problem().startsWith(QLatin1String(words)), qPrintable(problem()));
        }
        QFile there(file("there.pt2"));
        QVERIFY(there.open(QIODevice::WriteOnly));
        find<QLineEdit>("trainFile")->setText(there.fileName());
        QVERIFY(find<QPushButton>("trainStart")->isEnabled());
        QCOMPARE(problem(), QStringLiteral("The file exists and will be replaced."));
    }

    void theFileIsBesideTheProject()
    {
        QCOMPARE(freeTrainedFile("/models/net.pt2", {}), "/models/net.trained.pt2");
        const QString project = file("net.json");
        const QString first = freeTrainedFile("/models/net.pt2", project);
        QCOMPARE(first, file("net.trained.pt2"));
        QFile there(first);
        QVERIFY(there.open(QIODevice::WriteOnly));
        QCOMPARE(freeTrainedFile("/models/net.pt2", project), file("net.trained-2.pt2"));
        // Unless its training was stopped: it can be resumed.
        QCOMPARE(checkpointOf(first), file("net.trained.partial.npz"));
        QFile part(checkpointOf(first));
        QVERIFY(part.open(QIODevice::WriteOnly));
        QCOMPARE(freeTrainedFile("/models/net.pt2", project), first);
        QVERIFY(part.remove());
        QVERIFY(there.remove());
    }

    void aProjectKeepsIt()
    {
        trainTo("kept.pt2");
        const QString project = file("kept.json");
        QVERIFY(m_window->projects().saveTo(project));
        const Recipe saved = document().recipe();
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->show();
        m_window->openModel(project);
        QTRY_VERIFY(settled());
        QVERIFY(document().recipe() == saved);
        QTRY_VERIFY(stage().isVisible());
        QCOMPARE(stage().status().state, StageStatus::State::Done);
        QCOMPARE(stage().status().text, QStringLiteral("kept.pt2"));
        switchCure(workspace(), 0, true);
        QTRY_COMPARE(stage().status().text, QStringLiteral("kept.pt2, off"));
    }

    void keysAndNames()
    {
        QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(dialog() && dialog()->isVisible());
        QCOMPARE(dialog()->focusWidget(), find<QWidget>("trainSteps"));
        find<QLineEdit>("trainFile")->setText(file("keys.pt2"));
        QStringList order;
        for (int i = 0; i < 12; ++i) {
            QTest::keyClick(dialog()->focusWidget(), Qt::Key_Tab);
            order << dialog()->focusWidget()->objectName();
        }
        QCOMPARE(order,
                 QStringList({"trainMinutes", "trainFrom", "trainScales", "trainLoss", "trainRate",
                              "trainGuard", "trainNorms", "trainFile", "trainBrowse", "trainClose",
                              "trainStart", "trainSteps"}));
        for (const char* name : {"trainSteps", "trainMinutes", "trainFrom", "trainScales",
                                 "trainLoss", "trainRate", "trainGuard", "trainNorms", "trainFile",
                                 "trainingPlot", "trainSummary", "trainProgress", "trainNote"})
            QVERIFY2(!find<QWidget>(name)->accessibleName().isEmpty(), name);
    }

    void textsFit_data()
    {
        QTest::addColumn<int>("percent");
        QTest::addColumn<bool>("isDark");
        for (const int percent : {100, 150, 200})
            for (const bool isDark : {false, true})
                QTest::addRow("%d %s", percent, isDark ? "dark" : "light") << percent << isDark;
    }
    void textsFit()
    {
        QFETCH(int, percent);
        QFETCH(bool, isDark);
        using Colours = WindowStyle::Colours;
        applyStyle(*qApp, {isDark ? Colours::Dark : Colours::Light, percent});
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 720);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
        m_engine.waitInTraining = true;
        openDialog(file("fits.pt2"));
        // With QS_TOUR=FOLDER every picture is written there.
        const QString place = qEnvironmentVariable("QS_TOUR");
        int pictures = 0;
        const auto fits = [&] {
            const QString tag = QString::fromLatin1(QTest::currentDataTag()).replace(' ', '-');
            if (!place.isEmpty())
                dialog()->grab().save(
                    QStringLiteral("%1/train-%2-%3.png").arg(place, tag).arg(++pictures));
            QVERIFY2(clippedTexts(*dialog()).isEmpty(),
                     qPrintable(clippedTexts(*dialog()).join(u'\n')));
            const QSize least = dialog()->minimumSizeHint();
            QVERIFY2(least.width() <= 1280 && least.height() <= 720,
                     qPrintable(QStringLiteral("%1x%2").arg(least.width()).arg(least.height())));
        };
        QTRY_VERIFY(settled());
        fits();
        click("trainStart");
        QTRY_COMPARE(plot().pointCount(), 4);
        fits();
        click("trainCancel");
        QTRY_VERIFY(!trainer().isRunning() && settled());
        fits();
        QVERIFY(m_window->minimumSizeHint().boundedTo({1280, 720}) == m_window->minimumSizeHint());
        m_engine.waitInTraining = false;
    }
};

QTEST_MAIN(TestTrainDialog)
#include "tst_ui_train.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/session/text.h"
#include "ui/shell/dialogs/train_dialog.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QStandardPaths>
#include <QTemporaryDir>

using namespace qs;

/// The options of a training, its resumption and its end with the window, on an engine that waits
/// and fails at will.
class TestTrainOptions : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

    QTemporaryDir m_folder;
    int m_files = 0;

    Document& document() { return workspace().document(); }
    ModelTrainer& trainer() { return workspace().trainer(); }
    const std::vector<Cure>& cures() { return document().recipe().cures; }
    TrainDialog* dialog() { return m_window->findChild<TrainDialog*>(); }
    QString label(const char* name) { return find<QLabel>(name)->text(); }
    void click(const char* name) { QTest::mouseClick(find<QPushButton>(name), Qt::LeftButton); }
    bool isEnded() { return !trainer().isRunning() && settled(); }
    /// Opens the dialog with a file of the test's own; returns the file.
    QString openDialog()
    {
        QString file = m_folder.filePath(QStringLiteral("%1.pt2").arg(++m_files));
        m_window->actions()[ActionId::Train].trigger();
        if (!dialog() || !dialog()->isVisible())
            qFatal("no dialog");
        find<QLineEdit>("trainFile")->setText(file);
        return file;
    }
    /// Starts a training in the dialog, stops it after its fourth point and returns the file.
    QString stopped()
    {
        m_engine.waitInTraining = true;
        QString file = openDialog();
        click("trainStart");
        [this] { QTRY_COMPARE(trainer().training().points.size(), std::size_t(4)); }();
        click("trainCancel");
        [this] { QTRY_VERIFY(isEnded()); }();
        m_engine.waitInTraining = false;
        return file;
    }
    /// Starts a training that waits and closes its dialog.
    QString trainsBehind()
    {
        m_engine.waitInTraining = true;
        QString file = openDialog();
        click("trainStart");
        [this] { QTRY_VERIFY(trainer().training().points.size() == 4); }();
        dialog()->close();
        [this] { QTRY_VERIFY(!dialog()); }();
        return file;
    }
    /// Answers the question about the running training, once it is asked.
    void answer(const std::function<QAbstractButton*(QMessageBox&)>& button)
    {
        test::atDialog<QMessageBox>(*this, [button](QMessageBox& box) {
            QCOMPARE(box.objectName(), QStringLiteral("trainingBox"));
            QVERIFY2(box.text().contains("step 90 of 300"), qPrintable(box.text()));
            button(box)->click();
        });
    }

private Q_SLOTS:
    void init()
    {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
        m_engine.waitInTraining = m_engine.failTraining = false;
        m_engine.labelled = true;
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 720);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
    }
    void cleanup()
    {
        m_engine.waitInTraining = false;
        m_window.reset();
    }

    void theEngineGetsTheOptions()
    {
        QString file = openDialog();
        QTRY_VERIFY(settled());
        QCOMPARE(label("trainNote"),
                 QStringLiteral("Needs about 560 MB of memory for batches of 8."));
        click("trainStart");
        QTRY_VERIFY(isEnded());
        const TrainingSettings usual, &given = m_engine.lastTraining.training;
        QCOMPARE(given.steps, usual.steps);
        QVERIFY(!given.seconds && !given.rate && given.loss == TrainingLoss::Distill);
        QCOMPARE(given.guard, usual.guard);
        QVERIFY(given.freezeBatchNorms == usual.freezeBatchNorms && !given.learnsScales);
        QVERIFY(m_engine.lastTraining.start && !m_engine.lastTraining.resumes);
        QCOMPARE(toQString(m_engine.lastTraining.checkpoint), checkpointOf(file));

        find<QSpinBox>("trainSteps")->setValue(70);
        find<QSpinBox>("trainMinutes")->setValue(3);
        find<QComboBox>("trainFrom")->setCurrentIndex(1);
        find<QCheckBox>("trainScales")->setChecked(true);
        find<QComboBox>("trainLoss")->setCurrentIndex(1);
        find<QLineEdit>("trainRate")->setText("1e-3");
        find<QSpinBox>("trainGuard")->setValue(0);
        find<QSpinBox>("trainNorms")->setValue(-1);
        QCOMPARE(find<QSpinBox>("trainNorms")->text(), QStringLiteral("never"));
        click("trainStart");
        QTRY_VERIFY(isEnded());
        QCOMPARE(given.steps, 70);
        QCOMPARE(given.seconds.value_or(0), 180.0);
        QVERIFY(given.learnsScales && given.loss == TrainingLoss::Labels);
        QCOMPARE(given.rate.value_or(0), 1e-3);
        QCOMPARE(given.guard, 0.0);
        QVERIFY(!given.freezeBatchNorms);
        QVERIFY(!m_engine.lastTraining.start);
        // Another dialog proposes them again.
        dialog()->close();
        QTRY_VERIFY(!dialog());
        openDialog();
        QCOMPARE(find<QLineEdit>("trainRate")->text(), QStringLiteral("0.001"));
        QCOMPARE(find<QSpinBox>("trainGuard")->text(), QStringLiteral("none"));
        QCOMPARE(find<QComboBox>("trainFrom")->currentIndex(), 1);
    }

    void onlyPositiveRates()
    {
        openDialog();
        auto* rate = find<QLineEdit>("trainRate");
        for (const char* bad : {"0", "-0.1", "fast", "1e999", "nan"}) {
            rate->setText(bad);
            QVERIFY2(!find<QPushButton>("trainStart")->isEnabled(), bad);
            QCOMPARE(label("trainProblem"),
                     QStringLiteral("The learning rate is a positive number."));
        }
        for (const char* good : {"", " ", "0.002", "2e-4"}) {
            rate->setText(good);
            QVERIFY2(find<QPushButton>("trainStart")->isEnabled(), good);
        }
    }

    void labelsNeedLabelledData()
    {
        openDialog();
        QTRY_VERIFY(settled());
        const auto isOffered = [this] {
            const auto* box = find<QComboBox>("trainLoss");
            return qobject_cast<QStandardItemModel*>(box->model())->item(1)->isEnabled();
        };
        QVERIFY(isOffered());
        dialog()->close();
        QTRY_VERIFY(!dialog());
        m_engine.labelled = false;
        openDialog();
        QTRY_VERIFY(settled());
        QVERIFY(!isOffered());
    }

    void aStoppedTrainingGoesOn()
    {
        const int steps = workspace().undoStack().index();
        QString file = stopped();
        QCOMPARE(cures().size(), std::size_t(1));
        QCOMPARE(find<QLineEdit>("trainFile")->text(), file);
        auto* resume = find<QPushButton>("trainResume");
        QVERIFY(resume->isVisible() && resume->isEnabled() && resume->isDefault());
        QVERIFY(!find<QPushButton>("trainStart")->isEnabled());
        QVERIFY2(label("trainNote").startsWith("The training of this file was stopped."),
                 qPrintable(label("trainNote")));
        click("trainResume");
        QTRY_VERIFY(isEnded());
        QVERIFY(m_engine.lastTraining.resumes);
        QVERIFY(m_engine.lastTraining.recipe.cures.empty()); // as it was before
        QCOMPARE(label("trainSummary"), QStringLiteral("34.2 to 36.1 dB on 32 guard samples"));
        QCOMPARE(cures().size(), std::size_t(1));
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QVERIFY(!resume->isVisible());
    }

    void whatIsStoppedIsOfferedAgain()
    {
        QString file = stopped();
        dialog()->close();
        QTRY_VERIFY(!dialog());
        openDialog();
        QVERIFY(!find<QPushButton>("trainResume")->isVisible());
        find<QLineEdit>("trainFile")->setText(file);
        QVERIFY(find<QPushButton>("trainResume")->isVisible());
        find<QLineEdit>("trainFile")->setText({});
        QVERIFY(!find<QPushButton>("trainResume")->isVisible());
    }

    void aFailedResumptionChangesNothing()
    {
        stopped();
        const Recipe before = document().recipe();
        m_engine.failTraining = true;
        click("trainResume");
        QTRY_VERIFY(isEnded());
        QVERIFY2(label("trainSummary").contains("not finite"), qPrintable(label("trainSummary")));
        QVERIFY(document().recipe() == before);
        QVERIFY(find<QPushButton>("trainResume")->isVisible());
    }

    void aDiscardedResumptionChangesNothing()
    {
        stopped();
        const Recipe before = document().recipe();
        m_engine.waitInTraining = true;
        click("trainResume");
        QTRY_COMPARE(trainer().training().points.size(), std::size_t(4));
        QVERIFY(cures().empty());
        trainer().discard();
        QTRY_VERIFY(isEnded());
        QVERIFY(document().recipe() == before);
        QVERIFY(find<QPushButton>("trainResume")->isVisible());
    }

    void itGoesOnFromItsOwnDecisions()
    {
        stopped();
        Recipe other = document().recipe();
        other.calibration.batches += 1;
        workspace().change(QStringLiteral("more batches"), other);
        QTRY_VERIFY(settled());
        click("trainResume");
        QTRY_VERIFY(isEnded());
        QVERIFY2(label("trainSummary").contains("the recipe changed after the training stopped"),
                 qPrintable(label("trainSummary")));
        QVERIFY(document().recipe() == other);
        QCOMPARE(int(m_engine.lastTraining.resumes), 0);
    }

    void leavingCanKeepTheBest()
    {
        QString file = trainsBehind();
        bool isAsked = false;
        test::atDialog<QMessageBox>(*this, [&](QMessageBox& box) {
            QCOMPARE(box.objectName(), QStringLiteral("trainingBox"));
            QVERIFY2(box.text().contains("step 90 of 300"), qPrintable(box.text()));
            test::atDialog<QMessageBox>(*this, [&](QMessageBox& unsaved) {
                isAsked = unsaved.objectName() == QStringLiteral("unsavedBox");
                unsaved.button(QMessageBox::Cancel)->click();
            });
            QTest::keyClick(&box, Qt::Key_Return); // the default
        });
        QVERIFY(!m_window->close());
        QVERIFY(isAsked);
        QVERIFY(!trainer().isRunning());
        QCOMPARE(cures().size(), std::size_t(1));
        QCOMPARE(toQString(cures().front().file), file);
        QVERIFY(QFileInfo::exists(file));
    }

    void leavingCanDiscardIt()
    {
        QString file = trainsBehind();
        answer([](QMessageBox& box) { return box.button(QMessageBox::Discard); });
        QVERIFY(m_window->close());
        QTRY_VERIFY(isEnded());
        QVERIFY(cures().empty());
        QVERIFY(!QFileInfo::exists(file));
        QVERIFY(QFileInfo::exists(checkpointOf(file))); // it can be resumed
    }

    void leavingCanBeCancelled()
    {
        trainsBehind();
        test::atDialog<QMessageBox>(*this, [](QMessageBox& box) {
            if (const QString place = qEnvironmentVariable("QS_TOUR"); !place.isEmpty())
                box.grab().save(place + QStringLiteral("/train-leave.png"));
            QTest::keyClick(&box, Qt::Key_Escape);
        });
        QVERIFY(!m_window->close());
        QVERIFY(m_window->isVisible() && trainer().isRunning());
        trainer().discard();
        QTRY_VERIFY(isEnded());
        QVERIFY(m_window->close()); // without a question
    }

    void mnemonicsDoNotClash()
    {
        stopped(); // with every button but Stop
        QStringList letters;
        const auto add = [&letters](const QString& text) {
            for (qsizetype i = text.indexOf('&'); i >= 0 && i + 1 < text.size();
                 i = text.indexOf('&', i + 2))
                if (text[i + 1] != '&')
                    letters << text[i + 1].toLower();
        };
        for (const auto* label : dialog()->findChildren<QLabel*>())
            if (label->buddy())
                add(label->text());
        for (const auto* button : dialog()->findChildren<QAbstractButton*>())
            add(button->text());
        QCOMPARE(letters.size(), 13);
        letters.sort();
        QCOMPARE(letters.removeDuplicates(), 0);
    }

    void enterStartsAndEscapeCloses()
    {
        openDialog();
        QTest::keyClick(find<QSpinBox>("trainSteps"), Qt::Key_Return);
        QTRY_COMPARE(int(m_engine.trainings > 0), 1);
        QTRY_VERIFY(isEnded());
        QVERIFY(dialog());
        QTest::keyClick(dialog(), Qt::Key_Escape);
        QTRY_VERIFY(!dialog());
    }
};

QTEST_MAIN(TestTrainOptions)
#include "tst_ui_train_options.moc"

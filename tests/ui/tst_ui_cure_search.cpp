// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/cure_window.h"

using namespace qs;

/// The search of the Cure page: its trials, pausing and stopping it, and decisions meanwhile.
class TestCureSearch : public test::CureWindow
{
    Q_OBJECT

private Q_SLOTS:
    void init() { prepare(); }
    void cleanup() { finish(); }

    void aTrialIsOneStep()
    {
        runAll();
        QCOMPARE(search().state().best, std::size_t(4));
        QCOMPARE(m_engine.lastSearch.keepInt8, 0.8);
        QVERIFY(m_engine.lastSearch.goal == TuneGoal());
        QVERIFY2(note().startsWith("Goal reached: 20.6 dB, 88.0 % int8"), qPrintable(note()));
        QCOMPARE(button("cureTake").text(), QStringLiteral("Take 20.6 dB"));
        QTRY_COMPARE(bar().parts().size(), std::size_t(3)); // the search found causes
        const Recipe before = document().recipe();
        const int from = steps();
        click("cureTake");
        QCOMPARE(steps(), from + 1);
        QVERIFY(document().recipe() == search().recipeOf(4));
        QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("take trial 5: 20.6 dB"));
        const Cure& cure = document().recipe().cures.front();
        QVERIFY2(cure.by.starts_with("tune ") && cure.by.find(", trial ") != std::string::npos,
                 cure.by.c_str());
        QTRY_COMPARE(button("cureTake").text(), QStringLiteral("20.6 dB taken"));
        QVERIFY(!button("cureTake").isEnabled());
        clickDot(1);
        QCOMPARE(steps(), from + 2);
        QVERIFY(document().recipe() == search().recipeOf(1));
        clickDot(1); // already taken
        QCOMPARE(steps(), from + 2);
        workspace().undoStack().undo();
        workspace().undoStack().undo();
        QVERIFY(document().recipe() == before);
        QTRY_COMPARE(button("cureTake").text(), QStringLiteral("Take 20.6 dB"));
        QTRY_VERIFY(settled());
    }

    void pauseKeepsAndResumeGoesOn()
    {
        runUntilItWaits();
        QVERIFY(!button("cureRun").isVisible() && button("curePause").isVisible());
        QVERIFY(!find<QSpinBox>("cureKeepInt8")->isEnabled());
        QTRY_COMPARE(button("cureTake").text(), QStringLiteral("Take 18.9 dB"));
        QElapsedTimer clock;
        clock.start();
        click("curePause");
        QTRY_VERIFY(settled());
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
        QCOMPARE(note(), QStringLiteral("Paused after 3 trials; Resume continues"));
        QCOMPARE(button("cureRun").text(), QStringLiteral("Resume"));
        QCOMPARE(int(m_engine.measuredTrials), 3);
        m_engine.waitInSearch = false;
        runAll();
        QCOMPARE(int(m_engine.measuredTrials), 5);
        QCOMPARE(int(m_engine.searches), 2);
        // Another goal measures nothing again.
        find<QDoubleSpinBox>("cureGoal")->setValue(18);
        runAll();
        QCOMPARE(int(m_engine.measuredTrials), 5);
        QCOMPARE(m_engine.lastSearch.goal.value, 18.0);
    }

    void whatComesAfterStopIsIgnored()
    {
        m_engine.tellsAfterCancel = true;
        runUntilItWaits();
        click("cureStop");
        QVERIFY(search().phase() == CureSearch::Phase::Ended);
        QTRY_VERIFY(settled());
        QTest::qWait(50);
        QCOMPARE(front().dotCount(), 3);
        QVERIFY2(note().startsWith("Best 18.9 dB of 20.0 dB: stopped"), qPrintable(note()));
        click("cureTake");
        QVERIFY(document().recipe() == search().recipeOf(2));
    }

    void aNewerSearchReplacesTheOlder()
    {
        m_engine.tellsAfterCancel = true;
        runUntilItWaits();
        click("cureStop");
        find<QComboBox>("cureGoalKind")->setCurrentIndex(1);
        find<QDoubleSpinBox>("cureGoal")->setValue(0.99);
        m_engine.waitInSearch = false;
        click("cureRun"); // while the older one still ends
        QTRY_VERIFY(search().phase() == CureSearch::Phase::Ended && settled());
        QVERIFY(search().request().goal == (TuneGoal {TuneGoal::Kind::Cosine, 0.99}));
        QCOMPARE(search().state().trials.size(), std::size_t(5));
        QVERIFY(search().state().trials[2].reached); // 18.9 dB are a cosine of 0.9936
    }

    void decisionsDoNotEndIt()
    {
        compare();
        runUntilItWaits();
        const Recipe start = document().recipe();
        keepFcFloat();
        QTRY_VERIFY2(
            note().endsWith("best 18.9 dB at 92.0 % int8 · you have changed 1 decision since"),
            qPrintable(note()));
        // The preview has precedence, and the search goes on after it.
        QTRY_VERIFY(document().preview());
        QVERIFY(search().isRunning());
        QTRY_VERIFY(m_engine.searches > 1);
        QCOMPARE(front().dotCount(), 3);
        QVERIFY(search().request().recipe == start);
        workspace().undoStack().undo();
        QTRY_VERIFY2(note().endsWith("best 18.9 dB at 92.0 % int8"), qPrintable(note()));
        workspace().undoStack().redo();
        QTRY_VERIFY(note().endsWith("1 decision since"));
        m_engine.waitInSearch = false;
        QTRY_VERIFY(search().phase() == CureSearch::Phase::Ended && settled());
        QVERIFY(m_engine.lastSearch.recipe == start);
        QCOMPARE(int(m_engine.measuredTrials), 5);
        QTRY_COMPARE(note(),
                     QStringLiteral("You have changed 1 decision since; the trials do not contain "
                                    "them"));
        const int from = steps();
        click("cureTake");
        QCOMPARE(steps(), from + 1);
        QVERIFY(document().recipe() == search().recipeOf(4));
        QTRY_COMPARE(note(),
                     QStringLiteral("Taken without your 1 decision since the search began; undo "
                                    "brings them back"));
        QTRY_VERIFY(settled());
    }

    void failuresAndOtherData()
    {
        m_engine.failSearch = true;
        click("cureRun");
        QTRY_VERIFY(!search().isRunning());
        QTRY_COMPARE(note(), QStringLiteral("1 sample: no guard; give 16 or more"));
        m_engine.failSearch = false;
        runUntilItWaits();
        RunSettings other = document().settings();
        other.calibrationData = "/data/other.npz";
        document().setSettings(other);
        QTRY_VERIFY(search().phase() == CureSearch::Phase::Idle && settled());
        QTRY_COMPARE(front().dotCount(), 0);
        other.calibrationData.clear();
        document().setSettings(other);
        QTRY_VERIFY(!button("cureRun").isEnabled());
    }
};

QTEST_MAIN(TestCureSearch)
#include "tst_ui_cure_search.moc"

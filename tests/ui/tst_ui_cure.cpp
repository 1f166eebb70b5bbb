// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/cure_window.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/tour/picture_check.h"
#include "ui/shell/dialogs/run_dialogs.h"

#include <QScrollArea>

using namespace qs;

/// The Cure page: its empty states, causes and cures, keys, and texts of any size.
class TestCurePage : public test::CureWindow
{
    Q_OBJECT

private Q_SLOTS:
    void init() { prepare(); }
    void cleanup() { finish(); }

    void emptyStates()
    {
        QVERIFY2(stateText().startsWith("Not calibrated yet"), qPrintable(stateText()));
        QCOMPARE(button("cureRemedy").text(), QStringLiteral("Calibrate…"));
        QVERIFY(!button("cureTake").isVisible() && !button("curePause").isVisible());
        QCOMPARE(front().dotCount(), 0);
        bool isAsked = false;
        test::atDialog<CalibrateDialog>(*m_window, [&](CalibrateDialog& dialog) {
            isAsked = true;
            dialog.reject();
        });
        click("cureRemedy");
        QVERIFY(isAsked);
        compare();
        QTRY_COMPARE(button("cureRemedy").text(), QStringLiteral("Find causes"));
        QVERIFY2(stateText().contains("not searched yet"), qPrintable(stateText()));
        m_engine.isHealthy = true;
        click("cureRemedy");
        QTRY_VERIFY(document().diagnosis() && settled());
        const double db = shareDb(document().diagnosis()->blame->measured);
        QTRY_COMPARE(stateText(), QStringLiteral("Nothing to cure: ") + shownSqnr(db));
        QVERIFY(!button("cureRemedy").isVisible());
    }

    void causesCutTheNoise()
    {
        findCauses();
        const auto& found = document().diagnosis()->causes;
        QCOMPARE(bar().parts().size(), std::size_t(3)); // two causes, and the rest
        QVERIFY2(bar().parts()[0].text.startsWith("weight rounding 5"),
                 qPrintable(bar().parts()[0].text));
        QVERIFY(bar().parts()[2].isRest);
        double all = 0;
        int width = 0;
        for (const ShareBar::Part& part : bar().parts()) {
            all += part.share;
            width += part.place.width();
            QVERIFY(!part.tip.isEmpty());
        }
        QVERIFY(std::abs(all - 1) < 1e-9);
        QCOMPARE(width, bar().width());
        QVERIFY(bar().accessibleDescription().contains("outlier channel"));
        QCOMPARE(causes().topLevelItemCount(), 2);
        QCOMPARE(causes().topLevelItem(1)->childCount(), 2);
        QCOMPARE(causes().topLevelItem(1)->child(0)->child(0)->text(0),
                 toQString(found[1].evidence.front()));
        // A choice anywhere is the choice everywhere, and selects the nodes.
        QTest::mouseClick(&bar(), Qt::LeftButton, {}, bar().parts()[1].place.center());
        QCOMPARE(causes().currentItem(), causes().topLevelItem(1));
        QCOMPARE(workspace().selection().nodes().size(), std::size_t(2));
        QTRY_COMPARE(cures().topLevelItemCount(), 3);
        causes().setCurrentItem(causes().topLevelItem(1)->child(1));
        QTRY_COMPARE(cures().topLevelItemCount(), 1);
        QCOMPARE(workspace().selection().nodes(),
                 std::vector {document().diagnosis()->nodeOf(found[2])});
        bar().setFocus();
        QTest::keyClick(&bar(), Qt::Key_Left);
        QCOMPARE(causes().currentItem(), causes().topLevelItem(0));
        QCOMPARE(workspace().selection().nodes(),
                 std::vector {document().diagnosis()->nodeOf(found[0])});
    }

    void aSwitchIsADecision()
    {
        findCauses();
        QTreeWidgetItem* row = cures().topLevelItem(0);
        QVERIFY2(row->text(1).endsWith("predicted"), qPrintable(row->text(1)));
        const Recipe before = document().recipe();
        const int from = steps();
        row->setCheckState(0, Qt::Checked);
        QCOMPARE(steps(), from + 1);
        QCOMPARE(document().recipe().cures.size(), std::size_t(1));
        QTRY_VERIFY(settled());
        QTRY_VERIFY2(cures().topLevelItem(0)->text(1).endsWith("measured"),
                     qPrintable(cures().topLevelItem(0)->text(1)));
        QVERIFY(button("cureAgain").isVisible()); // the causes are those of other decisions
        workspace().undoStack().undo();
        QTRY_COMPARE(cures().topLevelItem(0)->checkState(0), Qt::Unchecked);
        QVERIFY(document().recipe() == before);
        workspace().undoStack().redo();
        QTRY_COMPARE(cures().topLevelItem(0)->checkState(0), Qt::Checked);
        cures().topLevelItem(0)->setCheckState(0, Qt::Unchecked);
        QCOMPARE(steps(), from + 2);
        QVERIFY(document().recipe().cures.empty());
    }

    void itIsMeasuredWithoutADecision()
    {
        findCauses();
        const int from = steps();
        cures().setFocus();
        cures().setCurrentItem(cures().topLevelItem(0));
        QTRY_VERIFY2(cures().topLevelItem(0)->text(1).endsWith("measured"),
                     qPrintable(cures().topLevelItem(0)->text(1)));
        QCOMPARE(steps(), from);
    }

    void anotherGraphKeepsTheCuresInReach()
    {
        findCauses();
        QVERIFY(!button("cureAgain").isVisible());
        EditStep step;
        step.kind = EditKind::Rename;
        step.at.kind = ValueAddress::Kind::Operator;
        step.at.module = "fc";
        step.at.op = document().model()->get(node("linear")).target;
        step.name = "last";
        Recipe recipe = document().recipe();
        recipe.edits.push_back(step);
        workspace().change("rename", recipe);
        QTRY_VERIFY(settled() && document().model()->tryFind("last"));
        QVERIFY(!document().diagnosis());
        QTRY_VERIFY(button("cureAgain").isVisible());
        QVERIFY(button("cureAgain").toolTip().contains("graph edited"));
        QCOMPARE(cures().topLevelItemCount(), 1);
        m_window->openModel(QStringLiteral("/models/other.pt2"));
        QTRY_VERIFY(settled() && !bar().isVisible());
    }

    void byKeysAlone()
    {
        find<QTabWidget>("bottomTabs")->setCurrentIndex(0);
        QTest::keyClick(m_window.get(), Qt::Key_U, Qt::ControlModifier | Qt::AltModifier);
        QVERIFY(page().isVisible());
        QCOMPARE(m_window->focusWidget(), &button("cureRun"));
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Space);
        QTRY_VERIFY(search().phase() == CureSearch::Phase::Ended && settled());
        QTRY_COMPARE(front().dotCount(), 5);
        QStringList order;
        while (m_window->focusWidget()->objectName() != "frontDots" && order.size() < 12) {
            QTest::keyClick(m_window->focusWidget(), Qt::Key_Tab);
            order << m_window->focusWidget()->objectName();
        }
        QCOMPARE(order,
                 QStringList({"cureTake", "shareBar", "causeList", "cureList", "frontDots"}));
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Home);
        QCOMPARE(front().currentDot(), 3); // the least int8
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Right);
        QCOMPARE(front().currentDot(), 4);
        QVERIFY(m_window->focusWidget()->accessibleDescription().startsWith("5. less float"));
        const int from = steps();
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Return);
        QCOMPARE(steps(), from + 1);
        QVERIFY(document().recipe() == search().recipeOf(4));
        for (const char* name : {"cureGoalKind", "cureGoal", "cureKeepInt8", "cureMinutes",
                                 "shareBar", "causeList", "cureList", "frontDots"})
            QVERIFY2(!find<QWidget>(name)->accessibleName().isEmpty(), name);
        QTRY_VERIFY(settled());
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
        open();
        // With QS_TOUR=FOLDER every picture is written there.
        const QString place = qEnvironmentVariable("QS_TOUR");
        int pictures = 0;
        const auto fits = [&] {
            const QString tag = QString::fromLatin1(QTest::currentDataTag()).replace(' ', '-');
            (void)QTest::qWaitFor([&] { return clippedTexts(page()).isEmpty(); }, 1000);
            QVERIFY2(clippedTexts(page()).isEmpty(), qPrintable(clippedTexts(page()).join(u'\n')));
            if (percent == 100) // nothing scrolls
                QTRY_COMPARE(find<QScrollArea>("curePage")->viewport()->size(), page().size());
            if (!place.isEmpty())
                m_window->grab().save(
                    QStringLiteral("%1/cure-%2-%3.png").arg(place, tag).arg(++pictures));
            const QSize least = m_window->minimumSizeHint();
            QVERIFY2(least.width() <= 1280 && least.height() <= 720,
                     qPrintable(QStringLiteral("%1x%2").arg(least.width()).arg(least.height())));
        };
        fits();
        findCauses();
        fits();
        runUntilItWaits();
        fits();
        m_engine.waitInSearch = false;
        QTRY_VERIFY(isQuiet());
        fits();
        keepFcFloat();
        QTRY_VERIFY(isQuiet());
        m_window->resize(1600, 1000);
        fits();
    }
};

QTEST_MAIN(TestCurePage)
#include "tst_ui_cure.moc"

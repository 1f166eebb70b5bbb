// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edits_window.h"
#include "ui/edit/edits_panel.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/style/looks.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QPushButton>
#include <QTreeWidget>

using namespace qs;
using namespace qs::test;

/// The recipe's cures in the window on the real engine: listed, switched, taken away, each an
/// undoable step; the Why card names the cure that decides.
class TestCuresWindow : public EditsWindow
{
    Q_OBJECT

    static Cure floatHead()
    {
        Cure cure;
        cure.at.kind = ValueAddress::Kind::Operator;
        cure.at.module = "head";
        cure.at.op = "aten.linear.default";
        cure.by = "tune 1f3a";
        return cure;
    }
    QTreeWidget& list() { return *m_window->findChild<QTreeWidget*>("curesList"); }
    Verdict headVerdict() { return workspace().facts().plan(node("linear")->id)->verdict; }
    void take(const Cure& cure)
    {
        Recipe recipe = document().recipe();
        recipe.cures.push_back(cure);
        workspace().change(QStringLiteral("cure"), recipe);
        settle();
        QTRY_VERIFY(isCurrent(Stage::Plan));
    }

private Q_SLOTS:
    void initTestCase() { makeEngine(); }
    void init() { openSample(); }
    void cleanup() { m_window.reset(); }

    void aCureIsOneUndoableStep()
    {
        const std::string before = recipeToJson(document().recipe());
        QVERIFY(list().isHidden());
        QCOMPARE(headVerdict(), Verdict::Quantized);
        const int steps = workspace().undoStack().index();
        take(floatHead());
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QCOMPARE(headVerdict(), Verdict::FloatByRule);
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        QVERIFY(!list().isHidden());
        const QTreeWidgetItem* row = list().topLevelItem(0);
        QCOMPARE(row->text(0), QStringLiteral("keep head · linear float, by tune 1f3a"));
        QCOMPARE(row->text(1), QString());
        QCOMPARE(row->checkState(0), Qt::Checked);
        workspace().undoStack().undo();
        settle();
        QCOMPARE(recipeToJson(document().recipe()), before);
        QTRY_COMPARE(list().topLevelItemCount(), 0);
        QTRY_COMPARE(headVerdict(), Verdict::Quantized);
    }

    void theTickSwitchesIt()
    {
        take(floatHead());
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        const int steps = workspace().undoStack().index();
        list().topLevelItem(0)->setCheckState(0, Qt::Unchecked);
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QVERIFY(document().recipe().cures.at(0).off);
        QTRY_COMPARE(headVerdict(), Verdict::Quantized);
        QTRY_COMPARE(list().topLevelItem(0)->text(1), QStringLiteral("off"));
        QCOMPARE(workspace().undoStack().index(), steps + 1); // showing it decides nothing
        workspace().undoStack().undo();
        QTRY_COMPARE(headVerdict(), Verdict::FloatByRule);
        QTRY_COMPARE(list().topLevelItem(0)->checkState(0), Qt::Checked);
    }

    void theButtonTakesItAway()
    {
        const std::string before = recipeToJson(document().recipe());
        take(floatHead());
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        auto* away = m_window->findChild<QPushButton*>("editsTakeAway");
        QVERIFY(!away->isEnabled());
        list().setCurrentItem(list().topLevelItem(0));
        QVERIFY(away->isEnabled());
        away->click();
        QCOMPARE(recipeToJson(document().recipe()), before);
        QTRY_COMPARE(headVerdict(), Verdict::Quantized);
        workspace().undoStack().undo();
        QTRY_COMPARE(headVerdict(), Verdict::FloatByRule);
    }

    void theWhyCardNamesTheCure()
    {
        take(floatHead());
        select("linear");
        const Rule& rule = workspace().facts().plan(node("linear")->id)->rule;
        QCOMPARE(cureMarkOf(document(), rule), QStringLiteral("cure float (tune 1f3a)"));
        const auto isNamed = [this] {
            const auto labels = m_window->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
                return label->text().contains(QStringLiteral("(cure float (tune 1f3a))"));
            });
        };
        QTRY_VERIFY(isNamed());
        const Rule& other = workspace().facts().plan(node("conv2d")->id)->rule;
        QVERIFY(cureMarkOf(document(), other).isEmpty());
    }

    void whatDoesNotFitSaysWhy()
    {
        Cure gone = floatHead();
        gone.at.module = "neck";
        take(gone);
        QTRY_COMPARE(list().topLevelItemCount(), 1);
        const QString why = QStringLiteral("left out: 'neck' has no operator");
        QTRY_VERIFY2(list().topLevelItem(0)->text(1).startsWith(why),
                     qPrintable(list().topLevelItem(0)->text(1)));
        QCOMPARE(headVerdict(), Verdict::Quantized);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestCuresWindow test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_cures.moc"

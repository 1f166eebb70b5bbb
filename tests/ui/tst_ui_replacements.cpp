// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/backend_window.h"
#include "ui/shell/dialogs/replacements_dialog.h"

#include <QLabel>
#include <QLineEdit>
#include <QTreeWidget>

using namespace qs;

/// What preparing will replace, a line each, and each line's way back.
class TestReplacements : public test::BackendWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { makeModel(); }
    void cleanup() { m_window.reset(); }
    void aLineForEachReplacement();
    void eachLineIsKeptAndReplacedAgain();

private:
    QTreeWidget* list() { return find<QTreeWidget>("replacements"); }
    QStringList line(int row)
    {
        QStringList texts;
        for (int column = 0; column < list()->columnCount(); ++column)
            texts << list()->topLevelItem(row)->text(column);
        return texts;
    }
    /// The tutorial on x86 with the dialog open.
    void openDialog()
    {
        openWith(defaultRecipe());
        m_window->actions()[ActionId::Replacements].trigger();
        QVERIFY(list());
    }
    /// Toggles the line's mark by the keyboard.
    void toggle(int row)
    {
        list()->setCurrentItem(list()->topLevelItem(row));
        QTest::keyClick(list(), Qt::Key_Space);
        settle();
    }
};

void TestReplacements::aLineForEachReplacement()
{
    openDialog();
    QCOMPARE(list()->topLevelItemCount(), 3);
    QCOMPARE(line(0),
             (QStringList {"linear · linear", "linear", "itself, observed",
                           "quantized.reference.Linear"}));
    QCOMPARE(line(1),
             (QStringList {"conv + bn + relu", "conv", "intrinsic.ConvReLU2d",
                           "quantized.reference.Conv2d"}));
    QCOMPARE(
        line(2),
        (QStringList {"sigmoid · sigmoid", "sigmoid", "itself, observed", "itself, on integers"}));
    QCOMPARE(list()->topLevelItem(1)->toolTip(2),
             QStringLiteral("torch.ao.nn.intrinsic.ConvReLU2d"));
    // They are what the plan says, before any data was run.
    QVERIFY(!document().calibration());
    find<QLineEdit>("replacementsFilter")->setText(QStringLiteral("CONV"));
    QVERIFY(list()->topLevelItem(0)->isHidden() && !list()->topLevelItem(1)->isHidden());
}

void TestReplacements::eachLineIsKeptAndReplacedAgain()
{
    openDialog();
    const Recipe before = document().recipe();
    toggle(1);
    QCOMPARE(list()->topLevelItemCount(), 3);
    QCOMPARE(line(1), (QStringList {"conv + bn + relu", "conv", "kept as it is", ""}));
    QCOMPARE(list()->topLevelItem(1)->checkState(0), Qt::Unchecked);
    QCOMPARE(find<QLabel>("replacementsCount")->text(),
             QStringLiteral("2 replaced, 1 kept as they are"));
    for (const char* name : test::kFused) {
        QVERIFY(!planOf(name).quantized);
        QVERIFY(planOf(name).group < 0
                || !document().plan()->groups[std::size_t(planOf(name).group)].fused);
    }
    QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("keep conv + bn + relu as it is"));
    toggle(0);
    QCOMPARE(find<QLabel>("replacementsCount")->text(),
             QStringLiteral("1 replaced, 2 kept as they are"));
    // Back by the mark, or by undo.
    toggle(1);
    QVERIFY(areQuantized() && !planOf("linear").quantized);
    toggle(0);
    QVERIFY(document().recipe() == before);
    for (int step = 0; step < 4; ++step)
        workspace().undoStack().undo();
    settle();
    QVERIFY(document().recipe() == before && areQuantized());
    QCOMPARE(line(1).at(2), QStringLiteral("intrinsic.ConvReLU2d"));
}

QTEST_MAIN(TestReplacements)
#include "tst_ui_replacements.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edits_window.h"
#include "ui/edit/edits_panel.h"
#include "ui/edit/graph_editor.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <QApplication>
#include <QPushButton>
#include <QTreeWidget>

using namespace qs;
using namespace qs::test;

/// Changing the model's graph in the window on the real engine: by keyboard, refused with a reason
/// or done whole, undone to the bit, kept in projects, measured as the command line measures it.
class TestEdits : public EditsWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { startEngine(); }
    void init() { openSample(); }
    void cleanup() { m_window.reset(); }

    void anInsertedOperatorIsMeasuredAndUndone()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const auto before = document().comparison();
        QVERIFY(before);
        const std::size_t count = document().model()->nodes().size();
        select("relu");
        ask(ActionId::InsertAfter, [](EditDialog& dialog) {
            type(dialog, "editOperator", "aten.hardtanh.default");
            type(dialog, "argument_min_val", "0");
            type(dialog, "argument_max_val", "2.5");
            QCOMPARE(dialog.name(), std::string("hardtanh")); // follows the operator
        });
        QVERIFY(node("hardtanh"));
        QCOMPARE(document().model()->nodes().size(), count + 1);
        QCOMPARE(workspace().selection().nodes().back(), node("hardtanh")->id);
        QVERIFY(!document().comparison()); // of another graph
        QCOMPARE(workspace().undoStack().undoText(),
                 QStringLiteral("insert aten.hardtanh.default after stem.relu · relu"));
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        checkAgainstTheCommandLine();
        workspace().undoStack().undo();
        settle();
        QCOMPARE(document().model()->nodes().size(), count);
        QTRY_VERIFY(isCurrent(Stage::Compare)); // brought back without a run
        QCOMPARE(document().comparison(), before);
    }

    void whatDoesNotFitIsRefusedAndNothingChanges()
    {
        const Recipe before = document().recipe();
        select("linear");
        ask(
            ActionId::InsertAfter,
            [](EditDialog& dialog) {
                type(dialog, "editOperator", "aten.reshape.default");
                type(dialog, "argument_shape", "[7, 11]");
            },
            false);
        auto* dialog = m_window->findChild<EditDialog*>();
        QVERIFY(dialog->findChild<QLabel*>("editProblem")->text().contains("[7, 11]"));
        QTest::keyClick(dialog, Qt::Key_Escape);
        QVERIFY(document().recipe() == before);
        select("conv2d");
        action(ActionId::RemoveNode).trigger(); // its readers cannot take the picture's channels
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY(document().recipe() == before);
    }

    void everyDialogMakesItsEdit()
    {
        select("relu");
        ask(ActionId::ReplaceNode,
            [](EditDialog& dialog) { type(dialog, "editOperator", "aten.silu.default"); });
        QCOMPARE(node("relu")->target, std::string("aten.silu.default"));
        select("relu");
        ask(ActionId::RenameNode, [](EditDialog& dialog) { type(dialog, "editName", "swish"); });
        QVERIFY(node("swish") && !node("relu"));
        select("conv2d");
        ask(ActionId::InsertOnInput, [](EditDialog& dialog) {
            type(dialog, "editOperator", "aten.clamp.default");
            type(dialog, "argument_max", "1");
        });
        QVERIFY(node("clamp"));
        select("clamp");
        ask(ActionId::SetArguments, [](EditDialog& dialog) { type(dialog, "argument_min", "-1"); });
        QVERIFY(node("clamp")->tryArg("min") && !node("clamp")->tryArg("min")->isNone());
        select("add");
        ask(ActionId::RewireInput, [this](EditDialog& dialog) {
            dialog.findChild<QComboBox*>("editInput")->setCurrentIndex(1);
            type(dialog, "editChoice", toText(node("add")->args[0].value));
        });
        QCOMPARE(*node("add")->args[0].value.asRef(), *node("add")->args[1].value.asRef());
        select("swish");
        action(ActionId::MakeOutput).trigger();
        QTRY_COMPARE(document().model()->output().args.size(), std::size_t(2));
        settle();
        ask(ActionId::DropOutput, [](EditDialog& dialog) {
            dialog.findChild<QComboBox*>("editChoice")->setCurrentIndex(1);
        });
        QCOMPARE(document().model()->output().args.size(), std::size_t(1));
        auto* list = m_window->findChild<QTreeWidget*>("editsList");
        QTRY_COMPARE(list->topLevelItemCount(), 7);
        for (int i = 0; i < 7; ++i)
            QCOMPARE(list->topLevelItem(i)->text(1), QStringLiteral("done"));
        // Without the insertion the edit of its argument no longer fits, and says so.
        list->setCurrentItem(list->topLevelItem(2));
        m_window->findChild<QPushButton*>("editsTakeAway")->click();
        settle();
        QTRY_COMPARE(list->topLevelItemCount(), 6);
        QTRY_VERIFY(
            list->topLevelItem(2)->text(1).startsWith("left out: there is no added operator"));
        while (workspace().undoStack().canUndo())
            workspace().undoStack().undo();
        settle();
        QVERIFY(node("relu") && !node("swish") && !node("clamp"));
    }

    void editsGoOnInAnotherStyle()
    {
        const QPointer<QAction> before = &action(ActionId::InsertAfter);
        m_window->changeStyle({WindowStyle::Colours::Dark, 100});
        QTRY_VERIFY(!before && m_window->graphPane().isLayoutDone());
        select("relu");
        ask(ActionId::InsertAfter,
            [](EditDialog& dialog) { type(dialog, "editOperator", "aten.relu.default"); });
        QCOMPARE(document().model()->nodes().size(), document().edited()->file->nodes().size() + 1);
        QTRY_COMPARE(m_window->findChild<QTreeWidget*>("editsList")->topLevelItemCount(), 1);
        m_window->changeStyle({});
    }

    void aProjectKeepsTheEdits()
    {
        select("relu");
        ask(ActionId::InsertAfter, [](EditDialog& dialog) {
            type(dialog, "editOperator", "aten.clamp.default");
            type(dialog, "argument_max", "3");
        });
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const QString project = m_folder.filePath("edited.json");
        QVERIFY(m_window->projects().saveTo(project));
        settle();
        m_window.reset();
        m_engine = makeEngine(); // remembers nothing
        m_window = std::make_unique<MainWindow>(*m_engine);
        m_window->openModel(project);
        QTRY_VERIFY_WITH_TIMEOUT(document().model() && node("clamp"), 60000);
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Compare) && !workspace().pipeline().isBusy(),
                                 120000);
        checkAgainstTheCommandLine();
    }

private:
    QString toText(const Argument& argument)
    {
        return QString::fromStdString(document().model()->value(*argument.asRef()).name);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestEdits test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_edits.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/convert/form_edits.h"
#include "engine/graph/text/node_titles.h"
#include "tests/ui/edits_window.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <QApplication>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QTreeWidget>

using namespace qs;
using namespace qs::test;

/// Editing the reference form and the lowered form in the window on the real engine: what is shown
/// is what is edited, the new target is run, undo restores, the files hold it.
class TestFormEdits : public EditsWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { startEngine(); }
    void init() { openSample(); }
    void cleanup() { m_window.reset(); }

    /// What the code of the lowered form, the list of edits and the strip show.
    void scenario16AnotherTargetGraphWideIsRunAndUndone()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        m_window->showTab("codePanel");
        m_window->findChild<QComboBox*>("codeForm")->setCurrentText(QStringLiteral("lowered"));
        const auto* code = m_window->findChild<QPlainTextEdit*>("codeLeft");
        const auto calls = [code](const char* function) {
            return code->toPlainText().count(QStringLiteral("torch.%1(").arg(function));
        };
        const char* quantize = "quantize_per_tensor";
        const char* dynamic = "quantize_per_tensor_dynamic";
        QTRY_VERIFY_WITH_TIMEOUT(calls(quantize) > 0, 20000);
        const auto first = calls(quantize);
        const auto* output = m_window->findChild<QLabel*>("resultOutput");
        const QString before = output->text();
        QVERIFY(before.endsWith(QLatin1Char(')')));
        m_window->graphPane().showForm(CodeForm::Lowered);
        const NodePtr chosen = firstOf("aten.quantize_per_tensor.default");
        workspace().selection().selectNodes({chosen->origin ? chosen->origin : chosen->id});
        ask(ActionId::ReplaceEvery, [&](EditDialog& dialog) {
            chooseMember(dialog, *document().converted()->lowered, chosen->name);
            type(dialog, "editOperator", "aten.quantize_per_tensor_dynamic.default");
            type(dialog, "argument_reduce_range", "false");
        });
        auto* list = m_window->findChild<QTreeWidget*>("editsList");
        QTRY_COMPARE(list->topLevelItemCount(), 1);
        QTRY_COMPARE(list->topLevelItem(0)->text(1), QStringLiteral("done"));
        QTRY_VERIFY2_WITH_TIMEOUT(calls(quantize) == 0 && calls(dynamic) == first,
                                  qPrintable(code->toPlainText()), 60000);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        // The reference form loses what it did, the lowered one something else.
        const auto reference
            = [](const QString& text) { return text.section(QStringLiteral("(reference"), 1); };
        QTRY_VERIFY2(output->text() != before && reference(output->text()) == reference(before),
                     qPrintable(output->text()));
        checkAgainstTheCommandLine();
        action(ActionId::Undo).trigger();
        settle();
        QTRY_COMPARE_WITH_TIMEOUT(output->text(), before, 20000); // brought back without a run
        QTRY_VERIFY(calls(dynamic) == 0 && calls(quantize) == first);
        QCOMPARE(list->topLevelItemCount(), 0);
    }

    void anOperatorOfTheReferenceFormIsEdited()
    {
        workspace().pipeline().runUpTo(Stage::Convert);
        settle();
        m_window->graphPane().showForm(CodeForm::Reference);
        select("relu");
        ask(ActionId::ReplaceNode, [&](EditDialog& dialog) {
            chooseMember(dialog, *document().converted()->reference, "relu");
            type(dialog, "editOperator", "aten.sigmoid.default");
        });
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Convert), 60000);
        const Graph& form = *document().converted()->reference;
        QCOMPARE(form.get(node("relu")->id).target, std::string("aten.sigmoid.default"));
        QCOMPARE(node("relu")->target, std::string("aten.relu.default"));
        QVERIFY(unfitFormEdits(*document().converted(), document().recipe()).empty());
        // Another edit goes on from it.
        ask(ActionId::InsertAfter, [&](EditDialog& dialog) {
            chooseMember(dialog, *document().converted()->reference, "relu");
            type(dialog, "editOperator", "aten.clamp.default");
            type(dialog, "argument_min", "0.25");
        });
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Convert)
                                     && document().converted()->reference->tryFind("clamp"),
                                 60000);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        checkAgainstTheCommandLine();
        // Without the first the second still fits.
        auto* list = m_window->findChild<QTreeWidget*>("editsList");
        QTRY_COMPARE(list->topLevelItemCount(), 2);
        list->setCurrentItem(list->topLevelItem(0));
        m_window->findChild<QPushButton*>("editsTakeAway")->click();
        QTRY_VERIFY_WITH_TIMEOUT(document().recipe().edits.size() == 1 && isCurrent(Stage::Convert),
                                 60000);
        QCOMPARE(document().converted()->reference->get(node("relu")->id).target,
                 std::string("aten.relu.default"));
        QVERIFY(document().converted()->reference->tryFind("clamp"));
    }

    void withoutAConversionTheFormIsOffered()
    {
        m_window->graphPane().showForm(CodeForm::Reference);
        select("relu");
        action(ActionId::ReplaceNode).trigger();
        QVERIFY(!m_window->findChild<EditDialog*>());
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY(document().recipe().edits.empty());
        m_window->graphPane().showForm(CodeForm::Float);
        ask(ActionId::ReplaceNode,
            [](EditDialog& dialog) { type(dialog, "editOperator", "aten.silu.default"); });
        QCOMPARE(node("relu")->target, std::string("aten.silu.default"));
    }

    void dialogsNameTheFormsOwnOperators()
    {
        workspace().pipeline().runUpTo(Stage::Convert);
        settle();
        m_window->graphPane().showForm(CodeForm::Lowered);
        const NodePtr quantize = firstOf("aten.quantize_per_tensor.default");
        QVERIFY(quantize && !document().model()->tryGet(quantize->id));
        workspace().selection().selectNodes({quantize->origin ? quantize->origin : quantize->id});
        const GraphPtr form = document().converted()->lowered;
        for (const ActionId id :
             {ActionId::ReplaceNode, ActionId::SetArguments, ActionId::RewireInput,
              ActionId::DuplicateNode, ActionId::RenameNode, ActionId::InsertAfter}) {
            action(id).trigger();
            const QPointer<EditDialog> dialog = m_window->findChild<EditDialog*>();
            QVERIFY(dialog);
            chooseMember(*dialog, *form, quantize->name);
            QVERIFY2(dialog->windowTitle().contains(toQString(nodeTitle(*form, quantize->id))),
                     qPrintable(dialog->windowTitle()));
            QTest::keyClick(dialog.data(), Qt::Key_Escape);
            QTRY_VERIFY(!dialog);
        }
        QVERIFY(document().recipe().edits.empty());
    }

    void outputsOfAFormAreAddedAndDropped()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const ComparisonPtr before = document().comparison();
        m_window->graphPane().showForm(CodeForm::Reference);
        select("relu");
        ask(ActionId::MakeOutput, [&](EditDialog& dialog) {
            chooseMember(dialog, *document().converted()->reference, "relu");
        });
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Convert), 60000);
        QVERIFY(document().recipe().edits.back().form == EditForm::Reference);
        QCOMPARE(document().converted()->reference->output().args.size(), std::size_t(2));
        QCOMPARE(document().converted()->lowered->output().args.size(), std::size_t(1));
        QCOMPARE(document().model()->output().args.size(), std::size_t(1));
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        checkAgainstTheCommandLine();
        QCOMPARE(document().comparison()->outputs.size(), std::size_t(1));
        QVERIFY(document().comparison()->outputs[0].cumulative->sqnrDb
                == before->outputs[0].cumulative->sqnrDb);
        QCOMPARE(document().comparison()->unpaired.size(), std::size_t(1));
        // The first one goes: the file returns the added one alone.
        ask(ActionId::DropOutput, [](EditDialog& dialog) {
            dialog.findChild<QComboBox*>("editChoice")->setCurrentIndex(0);
        });
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Convert), 60000);
        const Graph& form = *document().converted()->reference;
        QCOMPARE(form.output().args.size(), std::size_t(1));
        QCOMPARE(form.output().args[0].value.asRef()->node, form.tryFind("relu")->id);
        ask(
            ActionId::DropOutput, [](EditDialog&) {}, false);
        auto* dialog = m_window->findChild<EditDialog*>();
        QVERIFY(dialog->findChild<QLabel*>("editProblem")->text().contains("computes nothing"));
        QTest::keyClick(dialog, Qt::Key_Escape);
        workspace().undoStack().undo();
        workspace().undoStack().undo();
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Compare), 20000);
        QCOMPARE(document().comparison(), before);
    }

    void aPartOfAFormIsExtracted()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const ComparisonPtr before = document().comparison();
        const std::size_t whole = document().converted()->reference->nodes().size();
        m_window->graphPane().showForm(CodeForm::Reference);
        std::vector<NodeId> block;
        for (const NodePtr& one : document().model()->nodes())
            if (one->isOperator() && one->scope.path.starts_with("block1."))
                block.push_back(one->id);
        workspace().selection().selectNodes(block);
        QVERIFY(action(ActionId::ExtractSelection).isEnabled());
        action(ActionId::ExtractSelection).trigger();
        QTRY_VERIFY_WITH_TIMEOUT(document().recipe().edits.size() == 1, 20000);
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Convert), 60000);
        QVERIFY2(unfitFormEdits(*document().converted(), document().recipe()).empty(),
                 "the part is not taken");
        QVERIFY(document().converted()->reference->nodes().size() < whole / 2);
        QVERIFY(document().edited()->extractions.empty()); // the model is whole
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Compare), 60000);
        const ComparisonPtr part = document().comparison();
        QVERIFY(!part->nodes.empty() && part->nodes.size() < before->nodes.size());
        checkAgainstTheCommandLine(0);
        workspace().undoStack().undo();
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Compare), 20000);
        QCOMPARE(document().comparison(), before);
    }

private:
    NodePtr firstOf(const std::string& target)
    {
        for (const NodePtr& one : document().converted()->lowered->nodes())
            if (one->target == target)
                return one;
        return nullptr;
    }

    /// Which operator of the form is meant, where the dialog asks.
    static void chooseMember(QDialog& dialog, const Graph& form, const std::string& name)
    {
        auto* members = dialog.findChild<QComboBox*>("editMember");
        if (members)
            members->setCurrentText(
                QString::fromStdString(NodeTitles(form).of(*form.tryFind(name))));
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestFormEdits test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_form_edits.moc"

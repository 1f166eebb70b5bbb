// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/text/graph_printer.h"
#include "tests/ui/edits_window.h"
#include "ui/panels/findings_panel.h"
#include "ui/panels/result_strip.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QCheckBox>
#include <QFileDialog>
#include <QPushButton>
#include <QTimer>

using namespace qs;
using namespace qs::test;

/// What an edited model is good for in the window: measured against the model before its edits,
/// quantized by hand, a part with the data that it sees.
class TestEditedModels : public EditsWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { startEngine(); }
    void init() { openSample(); }
    void cleanup() { m_window.reset(); }

    /// 1 + tanh(x) shares the range of tanh: a finding, whose cure is one click and one undo.
    void aRangeThatCutsIsCuredByOneClick()
    {
        select("linear");
        ask(ActionId::InsertAfter,
            [](EditDialog& dialog) { type(dialog, "editOperator", "aten.tanh.default"); });
        EditStep addOne;
        addOne.kind = EditKind::Insert;
        addOne.at = document().edited()->addresses->of({node("tanh")->id, 0});
        addOne.op = "aten.add.Tensor";
        addOne.name = "add_one";
        addOne.json = R"({"other":1.0})";
        Recipe recipe = document().recipe();
        recipe.edits.push_back(addOne);
        workspace().change("add one", recipe);
        settle();
        QVERIFY2(document().edited()->outcomes.back().problem.empty(),
                 document().edited()->outcomes.back().problem.c_str());
        const auto planOf = [this](const char* name) -> const NodePlan& {
            return *document().plan()->tryGet(*document().model(), node(name)->id);
        };
        const std::string sum = document().plan()->findings.empty()
            ? ""
            : document().model()->get(document().plan()->findings[0].node).name;
        QVERIFY2(sum.starts_with("add"), sum.c_str());
        QVERIFY(planOf(sum.c_str()).quantized);
        auto& findings = m_window->findings();
        QTRY_VERIFY(
            !findings.findItems(QStringLiteral("Ranges that cost precision · 1"), Qt::MatchExactly)
                 .isEmpty());
        select(sum.c_str());
        QPushButton* apply = nullptr;
        QTRY_VERIFY((apply = m_window->findChild<QPushButton*>("applyRemedy")));
        apply->click();
        settle();
        QVERIFY(document().plan()->findings.empty() && !planOf(sum.c_str()).quantized);
        workspace().undoStack().undo();
        settle();
        QVERIFY(planOf(sum.c_str()).quantized && document().plan()->findings.size() == 1);
    }

    void theMeasureIsTheEditedModelOrTheOriginal()
    {
        select("add");
        ask(ActionId::InsertAfter, [](EditDialog& dialog) {
            type(dialog, "editOperator", "aten.hardtanh.default");
            type(dialog, "argument_min_val", "0");
            type(dialog, "argument_max_val", "0.5");
        });
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const auto edited = document().comparison();
        auto* said = m_window->findChild<QLabel*>("resultAgainst");
        auto* box = m_window->findChild<QCheckBox*>("editsAgainst");
        QTRY_VERIFY(m_window->findChild<QLabel*>("resultOutput")->isVisible());
        QVERIFY(!said->isVisible() && !box->isChecked());
        press(Qt::Key_G, Qt::ControlModifier | Qt::AltModifier);
        QTRY_VERIFY(box->isChecked());
        QVERIFY(action(ActionId::AgainstOriginal).isChecked() && document().isModified());
        QVERIFY(isCurrent(Stage::Convert) && document().isStale(Stage::Compare));
        QCOMPARE(document().staleReason(Stage::Compare),
                 QStringLiteral("measured against the edited model"));
        press(Qt::Key_M, Qt::ControlModifier);
        settle();
        checkAgainstTheCommandLine();
        QVERIFY(document().comparison()->againstOriginal);
        QTRY_VERIFY(said->isVisible());
        QCOMPARE(m_window->graphPane().colourBy(), ColourBy::Cumulative);
        const auto original = document().comparison();
        QVERIFY(!workspace().facts().error(node("hardtanh")->id)); // the original has none
        const auto term = [&](const ComparisonPtr& of, const char* name) {
            return *of->tryGet(workspace().facts().last(node(name)->id))->cumulative->sqnrDb;
        };
        QCOMPARE(term(original, "conv2d"), term(edited, "conv2d")); // before the edit
        QVERIFY(term(original, "linear") < term(edited, "linear") - 1); // after it
        // Back and forth without a run; a project keeps the choice.
        action(ActionId::AgainstOriginal).trigger();
        QTRY_COMPARE(document().comparison(), edited);
        QTRY_VERIFY(!said->isVisible());
        action(ActionId::AgainstOriginal).trigger();
        QTRY_COMPARE(document().comparison(), original);
        const QString project = m_folder.filePath("against.json");
        QVERIFY(m_window->projects().saveTo(project));
        settle();
        m_window.reset();
        m_engine = makeEngine();
        m_window = std::make_unique<MainWindow>(*m_engine);
        m_window->openModel(project);
        QTRY_VERIFY_WITH_TIMEOUT(document().model() && node("hardtanh"), 60000);
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Compare) && !workspace().pipeline().isBusy(),
                                 120000);
        QVERIFY(document().settings().againstOriginal && document().comparison()->againstOriginal);
        checkAgainstTheCommandLine();
    }

    void aPairThereAndBackIsOneStep()
    {
        const int steps = workspace().undoStack().count();
        const Recipe start = document().recipe();
        select("relu");
        ask(ActionId::InsertAfter, [](EditDialog& dialog) {
            type(dialog, "editOperator", "quantized_decomposed.quantize_per_tensor.default");
            type(dialog, "argument_scale", "0.02");
            type(dialog, "argument_zero_point", "2");
            type(dialog, "argument_quant_min", "0");
            type(dialog, "argument_quant_max", "255");
            type(dialog, "argument_dtype", "uint8");
            QVERIFY(dialog.findChild<QCheckBox*>("editBack")->isChecked());
        });
        QCOMPARE(workspace().undoStack().count(), steps + 1);
        QVERIFY(node("quantize_per_tensor") && node("dequantize"));
        QVERIFY(node("quantize_per_tensor")->outputs[0].type.dtype == DType::UInt8);
        QVERIFY(node("dequantize")->outputs[0].type.dtype == DType::Float32);
        for (const Use& use : document().edited()->file->users({node("relu")->id, 0}))
            QVERIFY(!document().model()->users({node("dequantize")->id, 0}).empty()
                    && document().model()->tryGet(use.node));
        QCOMPARE(document().model()->users({node("relu")->id, 0}).size(), std::size_t(1));
        // A cast on one edge.
        select("add");
        ask(ActionId::InsertOnInput, [](EditDialog& dialog) {
            type(dialog, "editOperator", "aten._to_copy.default");
            type(dialog, "argument_dtype", "float16");
        });
        QVERIFY(node("_to_copy")->outputs[0].type.dtype == DType::Float16);
        QVERIFY(node("back")->outputs[0].type.dtype == DType::Float32);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        checkAgainstTheCommandLine();
        // Another scale in all of them at once; undo restores.
        const Recipe before = document().recipe();
        const std::string was = printGraph(*document().model());
        select("quantize_per_tensor");
        ask(ActionId::ReplaceEvery, [](EditDialog& dialog) {
            type(dialog, "editOperator", "quantized_decomposed.quantize_per_tensor.default");
            type(dialog, "argument_scale", "0.04");
        });
        QVERIFY(printGraph(*document().model()) != was);
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe() == before);
        QCOMPARE(printGraph(*document().model()), was);
        // Without the way back its readers cannot take it: nothing is done.
        select("relu_2");
        ask(
            ActionId::InsertAfter,
            [](EditDialog& dialog) {
                type(dialog, "editOperator", "quantized_decomposed.quantize_per_tensor.default");
                for (const char* name : {"argument_zero_point", "argument_quant_min"})
                    type(dialog, name, "0");
                type(dialog, "argument_scale", "0.1");
                type(dialog, "argument_quant_max", "255");
                type(dialog, "argument_dtype", "uint8");
                dialog.findChild<QCheckBox*>("editBack")->setChecked(false);
            },
            false);
        QTest::keyClick(m_window->findChild<EditDialog*>(), Qt::Key_Escape);
        QVERIFY(document().recipe() == before);
        while (workspace().undoStack().count() > 0 && workspace().undoStack().index() > steps)
            workspace().undoStack().undo();
        settle();
        QVERIFY(document().recipe() == start);
    }

    void aPartComesWithItsData()
    {
        const QString file = m_folder.filePath("part.npz");
        QVERIFY(!action(ActionId::SavePartData).isEnabled());
        workspace().selection().selectNodes(
            {node("adaptive_avg_pool2d")->id, node("flatten")->id, node("linear")->id});
        press(Qt::Key_X, Qt::ControlModifier | Qt::AltModifier);
        QTRY_COMPARE(m_window->messageBar().headline(),
                     QStringLiteral("The part has its own inputs"));
        settle();
        QTRY_VERIFY(action(ActionId::SavePartData).isEnabled());
        QTimer::singleShot(300, [file] {
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            QVERIFY(dialog);
            dialog->findChild<QLineEdit*>()->setText(file);
            QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
        });
        press(Qt::Key_Y, Qt::ControlModifier | Qt::AltModifier);
        QTRY_COMPARE_WITH_TIMEOUT(document().settings().calibrationData, file.toStdString(), 60000);
        settle();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QVERIFY(isCurrent(Stage::Compare));
        checkAgainstTheCommandLine(0);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestEditedModels test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_edited_models.moc"

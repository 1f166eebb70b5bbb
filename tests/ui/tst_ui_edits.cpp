// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/configure/recipe.h"
#include "engine/graph/graph_printer.h"
#include "tests/support/command_line.h"
#include "tests/ui/shown_numbers.h"
#include "ui/edit/edit_dialog.h"
#include "ui/edit/edits_panel.h"
#include "ui/edit/graph_editor.h"
#include "ui/graph/graph_pane.h"
#include "ui/session/engine_session.h"
#include "ui/shell/actions.h"
#include "ui/shell/looks.h"
#include "ui/shell/main_window.h"
#include "ui/shell/message_bar.h"
#include "ui/shell/project_files.h"
#include "ui/shell/theme.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QJsonArray>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTimer>
#include <QTreeWidget>
#include <QtTest>

using namespace qs;

namespace {

const QString kSamples = QStringLiteral(QS_SOURCE_DIR "/resources/samples/");

} // namespace

/// Changing the model's graph in the window on the real engine: by keyboard, refused with a reason
/// or done whole, undone to the bit, kept in projects, measured as the command line measures it.
class TestEdits : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::unique_ptr<EngineService> m_engine;
    std::unique_ptr<MainWindow> m_window;
    CommandLine m_commandLine {kSamples + "digits.pt2", m_folder.path()};

    Workspace& workspace() { return m_window->workspace(); }
    Document& document() { return workspace().document(); }
    QAction& action(const char* name) { return m_window->actions()[name]; }
    const Node* node(const char* name) { return document().model()->tryFind(name); }
    void settle()
    {
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().pipeline().isBusy() && !document().isGraphStale(),
                                 120000);
    }
    bool isCurrent(Stage stage)
    {
        return document().hasResult(stage) && !document().isStale(stage);
    }

    /// A key of the main window, which a dialog before may have taken the focus from.
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers)
    {
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        QTest::keyClick(m_window.get(), key, modifiers);
    }

    void select(const char* name) { workspace().selection().selectNodes({node(name)->id}); }

    /// The dialog that a command opens; filled by `fill`, then Return. `wanted`: it closes.
    void ask(const char* command, const std::function<void(EditDialog&)>& fill, bool wanted = true)
    {
        QVERIFY2(action(command).isEnabled(), command);
        action(command).trigger();
        QPointer<EditDialog> dialog = m_window->findChild<EditDialog*>();
        QVERIFY(dialog);
        fill(*dialog);
        QTest::keyClick(dialog.data(), Qt::Key_Return);
        if (wanted) {
            QTRY_VERIFY_WITH_TIMEOUT(!dialog || !dialog->isVisible(), 20000);
            settle();
            return;
        }
        auto* problem = dialog->findChild<QLabel*>("editProblem");
        QTRY_VERIFY_WITH_TIMEOUT(problem->isVisible(), 20000);
        QVERIFY(!problem->text().contains('\n'));
    }

    static void type(QWidget& dialog, const char* name, const QString& text)
    {
        auto* box = dialog.findChild<QComboBox*>(name);
        auto* field = box ? box->lineEdit() : dialog.findChild<QLineEdit*>(name);
        QVERIFY2(field, name);
        field->selectAll();
        field->setText(text);
        if (box)
            box->setCurrentText(text);
    }

    /// Every operator's errors are those of the command line for the same decisions.
    void checkAgainstTheCommandLine(int atLeast = 5)
    {
        QVERIFY(isCurrent(Stage::Compare));
        const QJsonObject told = m_commandLine.quantize(document().recipe(), document().settings());
        int compared = 0;
        for (const QJsonValue& value : told["nodes"].toArray()) {
            const QJsonObject wanted = value.toObject();
            const Node* shown
                = document().model()->tryFind(wanted["name"].toString().toStdString());
            QVERIFY2(shown, qPrintable(wanted["name"].toString()));
            const NodeError* error = workspace().facts().error(shown->id);
            if (!wanted["error"].isObject() || workspace().facts().last(shown->id) != shown->id)
                continue;
            QVERIFY(error);
            checkTerm(wanted["error"].toObject()["isolated"], error->isolated);
            checkTerm(wanted["error"].toObject()["cumulative"], error->cumulative);
            ++compared;
        }
        QVERIFY(compared > atLeast);
    }

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_engine = makeEngineSession();
    }

    void init()
    {
        m_window = std::make_unique<MainWindow>(*m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(kSamples + "digits.pt2");
        QTRY_VERIFY_WITH_TIMEOUT(document().plan() && m_window->graphPane().isLayoutDone(), 60000);
        RunSettings settings = document().settings();
        settings.comparisonData.clear();
        settings.device = "cpu";
        document().setSettings(settings);
        Recipe recipe = document().recipe();
        recipe.calibration.batches = 2;
        workspace().change(QStringLiteral("few batches"), recipe);
        settle();
    }

    void cleanup() { m_window.reset(); }

    void anInsertedOperatorIsMeasuredAndUndone()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const auto before = document().comparison();
        QVERIFY(before);
        const std::size_t count = document().model()->nodes().size();
        select("relu");
        ask("insertAfter", [](EditDialog& dialog) {
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
                 QStringLiteral("insert aten.hardtanh.default after stem.relu aten.relu.default"));
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        checkAgainstTheCommandLine();
        workspace().undoStack().undo();
        settle();
        QCOMPARE(document().model()->nodes().size(), count);
        QTRY_VERIFY(isCurrent(Stage::Compare)); // brought back without a run
        QCOMPARE(document().comparison(), before);
    }

    void theMeasureIsTheEditedModelOrTheOriginal()
    {
        select("add");
        ask("insertAfter", [](EditDialog& dialog) {
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
        QVERIFY(action("againstOriginal").isChecked() && document().isModified());
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
        QVERIFY(term(original, "linear") < term(edited, "linear") - 1); // behind it
        // Back and forth without a run; a project keeps the choice.
        action("againstOriginal").trigger();
        QTRY_COMPARE(document().comparison(), edited);
        QTRY_VERIFY(!said->isVisible());
        action("againstOriginal").trigger();
        QTRY_COMPARE(document().comparison(), original);
        const QString project = m_folder.filePath("against.json");
        QVERIFY(m_window->projects().saveTo(project));
        settle();
        m_window.reset();
        m_engine = makeEngineSession();
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
        ask("insertAfter", [](EditDialog& dialog) {
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
            QVERIFY(document().model()->users({node("dequantize")->id, 0}).size() > 0
                    && document().model()->tryGet(use.node));
        QCOMPARE(document().model()->users({node("relu")->id, 0}).size(), std::size_t(1));
        // A cast on one edge.
        select("add");
        ask("insertOnInput", [](EditDialog& dialog) {
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
        ask("replaceEvery", [](EditDialog& dialog) {
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
            "insertAfter",
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
        QVERIFY(!action("savePartData").isEnabled());
        workspace().selection().selectNodes(
            {node("adaptive_avg_pool2d")->id, node("flatten")->id, node("linear")->id});
        press(Qt::Key_X, Qt::ControlModifier | Qt::AltModifier);
        QTRY_COMPARE(m_window->messageBar().headline(),
                     QStringLiteral("The part has inputs of its own"));
        settle();
        QTRY_VERIFY(action("savePartData").isEnabled());
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

    void whatDoesNotFitIsRefusedAndNothingChanges()
    {
        const Recipe before = document().recipe();
        select("linear");
        ask(
            "insertAfter",
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
        action("removeNode").trigger(); // its readers cannot take the picture's channels
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY(document().recipe() == before);
    }

    void everyDialogMakesItsEdit()
    {
        select("relu");
        ask("replaceNode",
            [](EditDialog& dialog) { type(dialog, "editOperator", "aten.silu.default"); });
        QCOMPARE(node("relu")->target, std::string("aten.silu.default"));
        select("relu");
        ask("renameNode", [](EditDialog& dialog) { type(dialog, "editName", "swish"); });
        QVERIFY(node("swish") && !node("relu"));
        select("conv2d");
        ask("insertOnInput", [](EditDialog& dialog) {
            type(dialog, "editOperator", "aten.clamp.default");
            type(dialog, "argument_max", "1");
        });
        QVERIFY(node("clamp"));
        select("clamp");
        ask("setArguments", [](EditDialog& dialog) { type(dialog, "argument_min", "-1"); });
        QVERIFY(node("clamp")->tryArg("min") && !node("clamp")->tryArg("min")->isNone());
        select("add");
        ask("rewireInput", [this](EditDialog& dialog) {
            dialog.findChild<QComboBox*>("editInput")->setCurrentIndex(1);
            type(dialog, "editChoice", toText(node("add")->args[0].value));
        });
        QCOMPARE(*node("add")->args[0].value.asRef(), *node("add")->args[1].value.asRef());
        select("swish");
        action("makeOutput").trigger();
        QTRY_COMPARE(document().model()->output().args.size(), std::size_t(2));
        settle();
        ask("dropOutput", [](EditDialog& dialog) {
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

    void editsGoOnWithOtherLooks()
    {
        const QPointer<QAction> before = &action("insertAfter");
        m_window->changeLooks({Looks::Colours::Dark, 100});
        QTRY_VERIFY(!before && m_window->graphPane().isLayoutDone());
        select("relu");
        ask("insertAfter",
            [](EditDialog& dialog) { type(dialog, "editOperator", "aten.relu.default"); });
        QCOMPARE(document().model()->nodes().size(), document().edited()->file->nodes().size() + 1);
        QTRY_COMPARE(m_window->findChild<QTreeWidget*>("editsList")->topLevelItemCount(), 1);
        m_window->changeLooks({});
    }

    void aProjectKeepsTheEdits()
    {
        select("relu");
        ask("insertAfter", [](EditDialog& dialog) {
            type(dialog, "editOperator", "aten.clamp.default");
            type(dialog, "argument_max", "3");
        });
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        const QString project = m_folder.filePath("edited.json");
        QVERIFY(m_window->projects().saveTo(project));
        settle();
        m_window.reset();
        m_engine = makeEngineSession(); // remembers nothing
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

// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/text/graph_printer.h"
#include "engine/import/importer.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/edits_window.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QPushButton>
#include <QTreeWidget>

using namespace qs;
using namespace qs::test;

/// An exported reference form, opened by itself: every edit that a float model takes, with undo and
/// redo, saved as the command line saves it.
class TestConvertedFile : public EditsWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        startEngine();
        commandLine({"quantize", kSamples + "digits.pt2", "--data", kSamples + "calib.npz",
                     "--device", "cpu", "--export", "pt2-reference", "--out",
                     m_folder.filePath("out")});
        QVERIFY(QFile::exists(file()));
    }

    void init()
    {
        openFile(file());
        settle();
        QVERIFY(document().model()->info().converted);
    }
    void cleanup() { m_window.reset(); }

    void everyEditIsMadeUndoneAndSaved()
    {
        const std::string quantize = "quantized_decomposed.quantize_per_tensor.default";
        const GraphPtr start = document().model();
        const NodePtr first = firstOf(quantize);
        QVERIFY(first);
        made([&] { // insert
            select("relu");
            ask(ActionId::InsertAfter, [](EditDialog& dialog) {
                type(dialog, "editOperator", "aten.clamp.default");
                type(dialog, "argument_max", "0.5");
            });
        });
        QVERIFY(node("clamp"));
        made([&] { // delete
            select("clamp");
            press(Qt::Key_Delete, {});
            QTRY_VERIFY(document().recipe().edits.size() == 2);
        });
        QVERIFY(!node("clamp"));
        made([&] { // replace
            select("relu");
            ask(ActionId::ReplaceNode,
                [](EditDialog& dialog) { type(dialog, "editOperator", "aten.sigmoid.default"); });
        });
        QCOMPARE(node("relu")->target, std::string("aten.sigmoid.default"));
        made([&] { // arguments
            select(first->name.c_str());
            ask(ActionId::SetArguments,
                [](EditDialog& dialog) { type(dialog, "argument_scale", "0.25"); });
        });
        QCOMPARE(*node(first->name.c_str())->tryArg("scale")->asDouble(), 0.25);
        made([&] { // an output
            select("relu");
            action(ActionId::MakeOutput).trigger();
            QTRY_COMPARE(document().model()->output().args.size(), std::size_t(2));
        });
        const ValueRef other = *node("add")->args.at(0).value.asRef();
        made([&] { // another input
            select("add");
            ask(ActionId::RewireInput, [&](EditDialog& dialog) {
                dialog.findChild<QComboBox*>("editInput")->setCurrentIndex(1);
                dialog.findChild<QComboBox*>("editChoice")
                    ->setCurrentText(toQString(document().model()->value(other).name));
            });
        });
        QCOMPARE(*node("add")->args.at(1).value.asRef(), other);
        const std::size_t count = document().recipe().edits.size();
        auto* list = m_window->findChild<QTreeWidget*>("editsList");
        QTRY_COMPARE(list->topLevelItemCount(), int(count));
        for (int i = 0; i < list->topLevelItemCount(); ++i)
            QCOMPARE(list->topLevelItem(i)->text(1), QStringLiteral("done"));

        // As the command line does the same edits.
        const QString saved = m_folder.filePath("saved.pt2"),
                      told = m_folder.filePath("edited.pt2");
        atFileDialog(*m_window, saved);
        action(ActionId::SaveEdited).trigger();
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(saved), 60000);
        settle();
        const QString recipe = m_folder.filePath("edits.json");
        QFile written(recipe);
        QVERIFY(written.open(QIODevice::WriteOnly));
        written.write(QByteArray::fromStdString(recipeToJson(document().recipe())));
        written.close();
        const QJsonObject done = commandLine(
            {"edit", file(), "--recipe", recipe, "--out", told, "--strict", "--json"});
        QCOMPARE(done["edits"].toArray().size(), qsizetype(count));
        QCOMPARE(textOf(saved), textOf(told));
        QVERIFY(textOf(saved) != textOf(file()));

        // All of it undone is the file, done again the edited one.
        const std::string edited = printGraph(*document().model());
        while (!document().recipe().edits.empty()) {
            workspace().undoStack().undo();
            settle();
        }
        QCOMPARE(printGraph(*document().model()), printGraph(*start));
        while (document().recipe().edits.size() < count) {
            workspace().undoStack().redo();
            settle();
        }
        QCOMPARE(printGraph(*document().model()), edited);
    }

    void aSavedFileOpensAndRunsAsOneOfItsKind()
    {
        select("relu");
        ask(ActionId::ReplaceNode,
            [](EditDialog& dialog) { type(dialog, "editOperator", "aten.sigmoid.default"); });
        const QString saved = m_folder.filePath("again.pt2");
        atFileDialog(*m_window, saved);
        action(ActionId::SaveEdited).trigger();
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(saved), 60000);
        settle();
        m_window.reset();
        openFile(saved);
        settle();
        QVERIFY(document().model()->info().converted);
        QCOMPARE(node("relu")->target, std::string("aten.sigmoid.default"));
        // It is compared with the float model that it was made from.
        const QJsonObject compared
            = commandLine({"compare", kSamples + "digits.pt2", "--result", saved, "--data",
                           kSamples + "calib.npz", "--json"});
        QVERIFY(!compared["outputs"].toArray().isEmpty());
    }

private:
    QString file() const { return m_folder.filePath("out/model.reference.pt2"); }

    NodePtr firstOf(const std::string& target)
    {
        for (const NodePtr& one : document().model()->nodes())
            if (one->target == target)
                return one;
        return nullptr;
    }

    static std::string textOf(const QString& file)
    {
        const auto read = importModel(file.toStdString());
        return read ? printGraph(**read) : read.error().line();
    }

    /// One edit: its undo brings the graph back, redo does it again.
    template<class Edit>
    void made(const Edit& edit)
    {
        const std::string before = printGraph(*document().model());
        const std::size_t count = document().recipe().edits.size();
        edit();
        settle();
        QCOMPARE(document().recipe().edits.size(), count + 1);
        const std::string after = printGraph(*document().model());
        QVERIFY2(document().edited()->outcomes.back().problem.empty(),
                 document().edited()->outcomes.back().problem.c_str());
        QVERIFY(after != before);
        workspace().undoStack().undo();
        settle();
        QCOMPARE(printGraph(*document().model()), before);
        workspace().undoStack().redo();
        settle();
        QCOMPARE(printGraph(*document().model()), after);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestConvertedFile test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_converted_file.moc"

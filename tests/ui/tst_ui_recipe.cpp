// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/files/atomic_file.h"
#include "engine/configure/backend/target.h"
#include "engine/configure/backend_config.h"
#include "engine/graph/text/graph_parser.h"
#include "engine/graph/text/node_titles.h"
#include "tests/support/fake_engine.h"
#include "ui/panels/recipe/recipe_editor.h"
#include "ui/panels/recipe/recipe_panel.h"
#include "ui/session/decisions/assign_scopes.h"
#include "ui/session/decisions/recipe_text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"

#include <QLabel>
#include <QTemporaryDir>
#include <QUndoView>
#include <QtTest>

using namespace qs;

namespace {

/// Three equal layers, each a linear layer and an addition.
GraphPtr layers()
{
    std::string text = "graph name=\"Net\" format=\"text\"\nmodule \"\" \"tests.Net\"\n";
    for (const char* layer : {"0", "1", "2"})
        text += std::string("module \"layers.") + layer + "\" \"tests.Layer\"\nmodule \"layers."
            + layer + ".fc\" \"torch.nn.Linear\"\n";
    text += "%x #1 = input \"x\" () -> (x: float32[2, 3])\n";
    std::string before = "x";
    int id = 2;
    for (const char* layer : {"0", "1", "2"}) {
        const std::string fc = std::string("fc_") + layer, add = std::string("add_") + layer;
        const std::string path = std::string("layers.") + layer;
        text += "%" + fc + " #" + std::to_string(id++) + " = op \"aten.relu.default\" (self=%"
            + before + ") -> (" + fc + ": float32[2, 3]) scope=\"" + path
            + ".fc\" class=\"torch.nn.ReLU\"\n";
        text += "%" + add + " #" + std::to_string(id++) + " = op \"aten.add.Tensor\" (self=%" + fc
            + ", other=%" + before + ") -> (" + add + ": float32[2, 3]) scope=\"" + path
            + "\" class=\"tests.Layer\"\n";
        before = add;
    }
    text += "%output #" + std::to_string(id) + " = output \"\" (\"\"=%" + before + ") -> ()\n";
    auto graph = parseGraph(text);
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    return std::make_shared<const Graph>(std::move(*graph));
}

} // namespace

/// Decisions at every scope, and the recipe as text.
class TestRecipe : public QObject
{
    Q_OBJECT

private:
    FakeEngine m_engine;
    std::unique_ptr<Workspace> m_workspace;

    NodeId node(const char* name) { return m_workspace->document().model()->tryFind(name)->id; }
    void open()
    {
        m_workspace->pipeline().open(QStringLiteral("/models/net.pt2"), defaultRecipe());
        QTRY_VERIFY(m_workspace->document().plan() && !m_workspace->pipeline().isBusy());
    }
    const AssignScope* scope(const QString& text)
    {
        m_scopes = assignScopes(*m_workspace);
        for (const auto& scope : m_scopes)
            if (scope.text == text)
                return &scope;
        return nullptr;
    }
    std::vector<AssignScope> m_scopes;

private Q_SLOTS:
    void init()
    {
        m_engine.model = fakeModel();
        m_workspace = std::make_unique<Workspace>(m_engine);
    }
    void scopesOfANode();
    void scopesOfRepeats();
    void stepsHaveReadableNames();
    void linesOfPaths_data();
    void linesOfPaths();
    void problemsNameTheirLine();
    void textFollowsDecisions();
    void aBackendBringsItsPreset();
    void validTextBecomesTheRecipe();
    void wrongTextIsMarkedAndNothingLost();
    void historyGoesBack();
};

void TestRecipe::scopesOfANode()
{
    open();
    QVERIFY(assignScopes(*m_workspace).empty());
    m_workspace->selectNode(node("conv2d_1"));
    QStringList texts;
    for (const auto& scope : assignScopes(*m_workspace))
        texts << scope.text;
    const auto only = [this](const char* name) {
        return QStringLiteral("only ")
            + QString::fromStdString(nodeTitle(*m_workspace->document().model(), node(name)));
    };
    QCOMPARE(texts,
             QStringList({QStringLiteral("this node"), only("conv2d_1"), only("batch_norm_1"),
                          only("relu_1"), QStringLiteral("module block"),
                          QStringLiteral("all Conv2d"), QStringLiteral("whole model")}));
    m_workspace->selectEntries({m_workspace->foldTree()->unitOf(node("linear")),
                                m_workspace->foldTree()->unitOf(node("add"))},
                               false);
    QCOMPARE(assignScopes(*m_workspace).front().text, QStringLiteral("these 2 nodes"));
}

void TestRecipe::scopesOfRepeats()
{
    m_engine.model = layers();
    open();
    // An operator of the block itself: the same line in every layer.
    m_workspace->selectNode(node("add_1"));
    const auto* same = scope(QStringLiteral("the same in all 3 repeats"));
    QVERIFY(same);
    QCOMPARE(same->target.kind, RuleKind::Node);
    QCOMPARE(same->target.keys, (std::vector<std::string> {"add_0", "add_1", "add_2"}));
    m_workspace->assign(same->target, std::string());
    QTRY_COMPARE(m_workspace->document().plan()->quantizedOps, 3);
    QCOMPARE(m_workspace->undoStack().count(), 1);
    m_workspace->undoStack().undo();
    // A module: all its repeats.
    m_workspace->selectEntry(m_workspace->foldTree()->moduleEntry("layers.0"));
    const auto* modules = scope(QStringLiteral("this module in all 3 repeats"));
    QVERIFY(modules);
    QCOMPARE(modules->target.kind, RuleKind::ModuleName);
    QCOMPARE(modules->target.keys, (std::vector<std::string> {"layers.0", "layers.1", "layers.2"}));
    m_workspace->assign(modules->target, std::string());
    QCOMPARE(m_workspace->undoStack().undoText(), QStringLiteral("set 3 modules to float"));
    QTRY_COMPARE(m_workspace->document().plan()->quantizedOps, 0);
}

void TestRecipe::stepsHaveReadableNames()
{
    open();
    const auto named = [this](const AssignTarget& target, const std::optional<std::string>& name) {
        m_workspace->assign(target, name);
        return m_workspace->undoStack().undoText();
    };
    QCOMPARE(named({RuleKind::Node, {"linear"}}, "x86"), QStringLiteral("set fc · linear to x86"));
    QCOMPARE(named({RuleKind::Node, {"add", "linear"}}, ""),
             QStringLiteral("set block · add + relu2, fc · linear to float"));
    QCOMPARE(named({RuleKind::ModuleName, {"block"}}, ""),
             QStringLiteral("set module block to float"));
    QCOMPARE(named({RuleKind::ObjectType, {"torch.nn.Conv2d", "torch.nn.ReLU"}}, ""),
             QStringLiteral("set all Conv2d + ReLU to float"));
    QCOMPARE(named({RuleKind::Global, {""}}, ""), QStringLiteral("set the whole model to float"));
    QCOMPARE(named({RuleKind::Node, {"linear"}}, std::nullopt),
             QStringLiteral("clear the rule of fc · linear"));
}

void TestRecipe::linesOfPaths_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("line");
    QTest::newRow("root") << "" << 1;
    QTest::newRow("key") << "backend" << 2;
    QTest::newRow("nested") << "mapping.module_name" << 5;
    QTest::newRow("item") << "mapping.module_name[1]" << 7;
    QTest::newRow("item of item") << "mapping.module_name[1][0]" << 7;
    QTest::newRow("not there") << "mapping.module_name[9]" << 5;
    QTest::newRow("same key deeper") << "global" << 10;
    QTest::newRow("key with a dot") << "qconfigs.a.b.weight" << 13;
}

void TestRecipe::linesOfPaths()
{
    QFETCH(QString, path);
    const std::string json = R"({
  "backend": "x86 \"global\": {",
  "mapping": {
    "global": null,
    "module_name": [
      ["a", null],
      ["b", "x86"]
    ]
  },
  "global": 1.5,
  "qconfigs": {
    "a.b": {"activation": {},
            "weight": {}}
  }
})";
    QTEST(lineOfJsonPath(json, path.toStdString()), "line");
}

void TestRecipe::problemsNameTheirLine()
{
    Recipe recipe = defaultRecipe();
    recipe.backend = recipe.target();
    const QString good = QString::fromStdString(recipeToJson(recipe));
    QVERIFY(readRecipeText(good));
    QString broken = good;
    broken.replace(QStringLiteral("\"backend\": \"x86\","), QStringLiteral("\"backend\" \"x86\","));
    const int line
        = int(good.left(good.indexOf(QStringLiteral("\"backend\""))).count(QLatin1Char('\n'))) + 1;
    auto read = readRecipeText(broken);
    QVERIFY(!read);
    QCOMPARE(read.error().line, line);
    // Well-formed, but no recipe: the key's own line.
    broken = good;
    broken.replace(QStringLiteral("\"batches\": 16"), QStringLiteral("\"batches\": \"many\""));
    read = readRecipeText(broken);
    QVERIFY(!read);
    QCOMPARE(read.error().line,
             int(broken.left(broken.indexOf(QStringLiteral("many"))).count(QLatin1Char('\n'))) + 1);
    QVERIFY2(read.error().message.contains(QStringLiteral("batches")),
             qPrintable(read.error().message));
    broken = good;
    broken.replace(QStringLiteral("\"calibration\""), QStringLiteral("\"calibraton\""));
    read = readRecipeText(broken);
    QVERIFY(!read);
    QCOMPARE(read.error().line,
             int(broken.left(broken.indexOf(QStringLiteral("calibraton"))).count(QLatin1Char('\n')))
                 + 1);
}

void TestRecipe::textFollowsDecisions()
{
    RecipePanel panel(*m_workspace);
    QVERIFY(panel.editor().isReadOnly());
    open();
    QVERIFY(!panel.editor().isReadOnly());
    QVERIFY(!panel.editor().toPlainText().contains(QStringLiteral("\"backend\"")));
    m_workspace->chooseBackend("x86");
    QVERIFY(panel.editor().toPlainText().contains(QStringLiteral("\"backend\": \"x86\"")));
    m_workspace->assign({RuleKind::Node, {"linear"}}, std::string());
    QVERIFY(panel.editor().toPlainText().contains(QStringLiteral("linear")));
    m_workspace->undoStack().undo();
    QVERIFY(!panel.editor().toPlainText().contains(QStringLiteral("linear")));
}

void TestRecipe::aBackendBringsItsPreset()
{
    open();
    QTemporaryDir folder;
    auto backend = *findBackend("qnnpack");
    backend.name = "board";
    const std::string path = folder.filePath("board.json").toStdString();
    QVERIFY(writeFileAtomically(path, backendToJson(backend)));
    for (const std::string& wanted : {std::string("qnnpack"), path, std::string("x86")}) {
        const auto told
            = withBackend(m_workspace->document().recipe(), wanted); // as the programs do
        m_workspace->chooseBackend(wanted);
        QVERIFY(told && m_workspace->document().recipe() == *told);
        QCOMPARE(globalQConfig(*told), std::string(wanted == "x86" ? "x86" : "qnnpack"));
    }
    const std::string none = folder.filePath("none.json").toStdString();
    m_workspace->chooseBackend(none); // what is wrong with it is planning's to say
    QCOMPARE(m_workspace->document().recipe().backend, none);
    QCOMPARE(globalQConfig(m_workspace->document().recipe()), std::string("x86"));
}

void TestRecipe::validTextBecomesTheRecipe()
{
    RecipePanel panel(*m_workspace);
    open();
    const QString text = QStringLiteral(
        "{\"format\": \"quantscope.recipe\", \"version\": 1, \"backend\": \"x86\",\n"
        "\n"
        " \"mapping\": {\"global\": \"x86\", \"module_name\": [[\"fc\", null]]}}");
    panel.editor().setPlainText(text);
    QTRY_COMPARE(m_workspace->undoStack().count(), 1);
    QCOMPARE(m_workspace->document().recipe().mapping.rules.back().key, std::string("fc"));
    // Spaces and order stay as they were typed.
    QCOMPARE(panel.editor().toPlainText(), text);
    QCOMPARE(panel.editor().problemLine(), 0);
    m_workspace->undoStack().undo();
    QVERIFY(m_workspace->document().recipe() == defaultRecipe());
    QVERIFY(panel.editor().toPlainText() != text);
    m_workspace->undoStack().redo();
    QVERIFY(panel.editor().toPlainText().contains(QStringLiteral("fc")));
}

void TestRecipe::wrongTextIsMarkedAndNothingLost()
{
    RecipePanel panel(*m_workspace);
    open();
    const QString text
        = QStringLiteral("{\"format\": \"quantscope.recipe\", \"version\": 1,\n"
                         "\"backend\": \"x86\",\n\"mapping\": {\"globl\": \"x86\"}}");
    panel.editor().setPlainText(text);
    QTRY_COMPARE(panel.editor().problemLine(), 3);
    auto* state = panel.findChild<ElidedLabel*>(QStringLiteral("recipeState"));
    QVERIFY2(state->text().startsWith(QStringLiteral("Line 3: "))
                 && state->text().contains(QStringLiteral("globl")),
             qPrintable(state->text()));
    QCOMPARE(m_workspace->undoStack().count(), 0);
    QVERIFY(m_workspace->document().recipe() == defaultRecipe());
    QCOMPARE(panel.editor().toPlainText(), text);
    // Invalid JSON is reported once with its place, in plain words.
    panel.editor().setPlainText(QStringLiteral("{\"version\": 1,\n \"backend\" \"x86\"}"));
    QTRY_COMPARE(panel.editor().problemLine(), 2);
    QVERIFY2(state->text().startsWith(QStringLiteral("Line 2, column "))
                 && state->text().count(QStringLiteral("column")) == 1
                 && !state->text().contains(QStringLiteral("not JSON")),
             qPrintable(state->text()));
    // Mended, the mark goes.
    panel.editor().setPlainText(
        QString(text).replace(QStringLiteral("globl"), QStringLiteral("global")));
    QTRY_COMPARE(panel.editor().problemLine(), 0);
}

void TestRecipe::historyGoesBack()
{
    RecipePanel panel(*m_workspace);
    panel.resize(900, 300);
    panel.show();
    open();
    m_workspace->assign({RuleKind::Node, {"linear"}}, std::string());
    m_workspace->assign({RuleKind::Node, {"add"}}, std::string());
    auto* history = panel.findChild<QUndoView*>(QStringLiteral("recipeHistory"));
    QCOMPARE(history->model()->rowCount(), 3);
    QCOMPARE(history->model()->index(1, 0).data().toString(),
             QStringLiteral("set fc · linear to float"));
    QTest::mouseClick(history->viewport(), Qt::LeftButton, {},
                      history->visualRect(history->model()->index(0, 0)).center());
    QCOMPARE(m_workspace->undoStack().index(), 0);
    QVERIFY(m_workspace->document().recipe() == defaultRecipe());
}

QTEST_MAIN(TestRecipe)
#include "tst_ui_recipe.moc"

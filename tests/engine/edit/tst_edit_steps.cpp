// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/json/edit_step_json.h"
#include "engine/configure/recipe.h"

#include <QtTest>

using namespace qs;

/// Edits in a recipe's text: every kind is read and written without loss.
class TestEditSteps : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyKindSurvivesItsText_data()
    {
        QTest::addColumn<QByteArray>("edit");
        QTest::addColumn<QByteArray>("text");
        const auto row = [](const char* name, const char* edit, const char* text) {
            QTest::newRow(name) << QByteArray(edit) << QByteArray(text);
        };
        row("insert",
            R"({"do":"insert","at":{"module":"a.b","op":"aten.conv2d.default","index":2},)"
            R"("op":"aten.clamp.default","name":"clip","readers":[{"node":{"added":"x"},)"
            R"("argument":"tensors","item":1},{"model_output":0}],"args":{"min":0,"max":6.5}})",
            "insert aten.clamp.default after a.b · conv2d 3 for x (tensors[1]), output 0 of the "
            "model");
        row("remove", R"({"do":"remove","at":{"added":"clip"},"bypass":"other"})", "remove clip");
        row("replace",
            R"({"do":"replace","at":{"module":"","op":"aten.relu.default"},"op":"aten.silu.default"})",
            "replace relu by aten.silu.default");
        row("replace every",
            R"({"do":"replace_every","op":"aten.silu.default","every":"aten.relu.default","within":"a"})",
            "replace every aten.relu.default in a by aten.silu.default");
        row("set",
            R"({"do":"set","at":{"module":"a","op":"aten.conv2d.default"},"args":{"stride":[2,2]}})",
            "set arguments of a · conv2d: {\"stride\":[2,2]}");
        row("rewire",
            R"({"do":"rewire","at":{"module":"","op":"aten.add.Tensor"},"argument":"other","to":{"input":"x"}})",
            "feed add (other) from input x");
        row("duplicate",
            R"({"do":"duplicate","at":{"module":"","op":"aten.split.Tensor","output":1},"name":"again",)"
            R"("readers":[{"node":{"added":"y"},"argument":"self"}]})",
            "duplicate split, value 1 for y (self)");
        row("rename", R"({"do":"rename","at":{"added":"y"},"name":"z"})", "rename y to z");
        row("constant", R"({"do":"constant","at":{"stored":"fc.bias"},"values":[1,2.5]})",
            "set fc.bias");
        row("constant file",
            R"({"do":"constant","at":{"stored":"fc.bias"},"file":"/b.npy","sha256":"00"})",
            "set fc.bias from /b.npy");
        row("add output", R"({"do":"add_output","at":{"input":"x"}})", "make input x an output");
        row("drop output", R"({"do":"drop_output","output":1})", "drop output 1");
        row("fold", R"({"do":"fold","within":"head"})", "fold constants in head");
        row("extract", R"({"do":"extract","nodes":[{"module":"","op":"aten.relu.default"}]})",
            "keep 1 operator alone");
    }

    void everyKindSurvivesItsText()
    {
        QFETCH(QByteArray, edit);
        QFETCH(QByteArray, text);
        const Json json = Json::array({Json::parse(edit.toStdString())});
        const auto steps = readEdits(JsonPlace(json, "r.json", "edits"));
        QVERIFY2(steps, steps ? "" : steps.error().line().c_str());
        QCOMPARE(editsToJson(*steps).dump(), json.dump());
        QCOMPARE(QByteArray::fromStdString(editText(steps->front())), text);
        Recipe recipe = defaultRecipe();
        recipe.edits = *steps;
        const auto again = parseRecipe(recipeToJson(recipe), "r.json");
        QVERIFY2(again, again ? "" : again.error().line().c_str());
        QVERIFY(*again == recipe);
    }

    void aRecipeWithoutEditsHasNoKey()
    {
        QVERIFY(recipeToJson(defaultRecipe()).find("\"edits\"") == std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestEditSteps)
#include "tst_edit_steps.moc"

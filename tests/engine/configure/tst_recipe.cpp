// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"
#include "engine/configure/recipe.h"

#include <QtCore/QJsonArray>
#include <QtCore/QJsonDocument>
#include <QtCore/QJsonObject>
#include <QtTest/QtTest>

#include <fstream>

using namespace qs;

namespace {

std::string example()
{
    std::ifstream in(QS_SOURCE_DIR "/tests/engine/configure/recipe_example.json");
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string errorOf(const std::string& json)
{
    const auto recipe = parseRecipe(json, "r.json");
    return recipe ? "" : recipe.error().line();
}

std::string with(const std::string& body)
{
    return R"({"format": "quantscope.recipe", "version": 1, )" + body + "}";
}

} // namespace

class TestRecipe : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsTheDesignExample()
    {
        const auto recipe = parseRecipe(example(), "r.json");
        QVERIFY2(recipe.has_value(), errorOf(example()).c_str());
        QCOMPARE(recipe->mapping.rules.size(), std::size_t(7));
        QCOMPARE(recipe->mapping.rules[0].qconfig.name, std::string("x86"));
        QCOMPARE(recipe->qconfigs.at("act7").activation.quantMax, std::optional<std::int64_t>(127));
        QCOMPARE(recipe->qconfigs.at("act7").activation.eps, 1.0 / 4096);
        QVERIFY(recipe->qconfigs.at("act7").weight.qscheme == QScheme::PerChannelSymmetric);
        QVERIFY(!recipe->mapping.rules[3].qconfig.config);
        QCOMPARE(recipe->mapping.rules[4].index, 2);
        QCOMPARE(recipe->mapping.rules[6].secondKey, std::string("conv2d_3"));
        QCOMPARE(recipe->calibration.batches, 3);
        QCOMPARE(recipe->loweringAdd.size(), std::size_t(1));
        QCOMPARE(recipe->loweringRemove[0].pattern[0], std::string("torch.nn.Linear"));
    }
    void roundTrips()
    {
        const auto first = parseRecipe(example(), "r.json");
        const std::string text = recipeToJson(*first);
        const auto second = parseRecipe(text, "again.json");
        QVERIFY(second.has_value());
        QVERIFY(*first == *second);
        QCOMPARE(recipeToJson(*second), text);
        QVERIFY(text.back() == '\n');
        const auto usual = parseRecipe(recipeToJson(defaultRecipe()), "d.json");
        QVERIFY(usual.has_value() && *usual == defaultRecipe());
    }
    void everyPresetRoundTrips()
    {
        for (const auto& name : presetNames()) {
            Recipe recipe = defaultRecipe();
            recipe.qconfigs["mine"] = *presetQConfig(name);
            const auto again = parseRecipe(recipeToJson(recipe), "r.json");
            QVERIFY2(again.has_value(), (name + (again ? "" : again.error().line())).c_str());
            QVERIFY2(*again == recipe, name.c_str());
        }
    }
    void defaultsComeFromTheGlobalName()
    {
        const auto absent = parseRecipe(with(R"("backend": "x86")"), "r.json");
        Recipe usual = defaultRecipe();
        QVERIFY(!usual.namesTarget() && usual.target() == "x86");
        usual.backend = "x86";
        QVERIFY(absent && *absent == usual);
        const auto open = parseRecipe(with(R"("qconfigs": {})"), "r.json");
        QVERIFY(open && *open == defaultRecipe());
        const auto mapping = effectiveMapping(*absent);
        QCOMPARE(mapping.rules.size(), std::size_t(1 + 1 + 6 + 2 + 1 + 13));
        QVERIFY(mapping.rules[0].fromBackend);
        // A bare "mapping" without "global" keeps everything float, and brings no defaults.
        const auto none
            = parseRecipe(with(R"("mapping": {"object_type": [["reshape", "x86"]]})"), "r");
        QVERIFY(none.has_value());
        QCOMPARE(effectiveMapping(*none).rules.size(), std::size_t(1));
        // The recipe's own qconfig of that name wins over the backend's meaning.
        const auto own = parseRecipe(
            with(
                R"("qconfigs": {"x86": {"activation": {"observer": "minmax"}, "weight": {"observer": "minmax", "dtype": "qint8"}}},
                    "mapping": {"global": "x86"})"),
            "r");
        QVERIFY(own.has_value());
        QCOMPARE(effectiveMapping(*own).rules.size(), std::size_t(1));
        QVERIFY(effectiveMapping(*own).rules[0].qconfig.config->activation.kind
                == ObserverKind::MinMax);
    }
    void refuses_data()
    {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QStringList>("words");
        QFile file(QS_SOURCE_DIR "/tests/engine/configure/recipe_errors.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonArray cases = QJsonDocument::fromJson(file.readAll()).array();
        QVERIFY(cases.size() > 20);
        for (const auto& item : cases) {
            const QJsonObject row = item.toObject();
            QTest::newRow(row["case"].toString().toUtf8().constData())
                << row["recipe"].toString() << row["words"].toVariant().toStringList();
        }
    }
    void refuses()
    {
        QFETCH(QString, json);
        QFETCH(QStringList, words);
        const QString line = QString::fromStdString(errorOf(json.toStdString()));
        QVERIFY(!line.isEmpty());
        QVERIFY(!line.contains('\n'));
        QVERIFY2(line.contains("r.json"), qPrintable(line));
        for (const auto& word : words)
            QVERIFY2(line.contains(word), qPrintable(line + " lacks " + word));
    }
    void prepareIsComparedByValue()
    {
        const auto first = parseRecipe(
            with(R"("prepare": {"unfuse": ["a"], "wrap": [], "only_modules": ["b"]})"), "r.json");
        const auto second
            = parseRecipe(with(R"("prepare": {"only_modules": ["b"], "unfuse": ["a"]})"), "r.json");
        QVERIFY(first && second && *first == *second);
        QCOMPARE(recipeToJson(*first), recipeToJson(*second));
    }
    void keysWithoutEffectAreKept()
    {
        const auto recipe = parseRecipe(with(R"("prepare": {"input_quantized_idxs": [0],
                                "standalone_module_name": ["a", ["b", null, [], {}, {}]]})"),
                                        "r.json");
        QVERIFY2(recipe, recipe ? "" : recipe.error().line().c_str());
        QVERIFY(recipe->prepare.quantizedInputs == std::vector<std::int64_t> {0});
        QVERIFY((recipe->prepare.standaloneNames == std::vector<std::string> {"a", "b"}));
        QVERIFY(*parseRecipe(recipeToJson(*recipe), "again.json") == *recipe);
    }
    void settingsOfAStandaloneModuleAreReported()
    {
        std::vector<std::string> said;
        setLogSink([&said](LogLevel, const std::string& text) { said.push_back(text); });
        const auto restored = qScopeGuard([] { setLogSink({}); });
        QVERIFY(parseRecipe(with(R"("prepare": {"standalone_module_name": [["a", null], ["b"]]})"),
                            "r.json"));
        QVERIFY(said.empty());
        QVERIFY(parseRecipe(
            with(R"("prepare": {"standalone_module_name": [["a", {"global": "x86"}]]})"),
            "r.json"));
        QCOMPARE(int(said.size()), 1);
        QVERIFY(said[0].find("'a'") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestRecipe)
#include "tst_recipe.moc"

// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/edit_text.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/keys/key_table.h"
#include "engine/configure/recipe.h"

#include <QTest>

#include <set>

using namespace qs;

namespace {

constexpr const char* kConv = R"({"module": "layer1.0", "op": "aten.conv2d.default"})";
constexpr const char* kAdd = R"({"module": "layer1.0", "op": "aten.add.Tensor", "index": 1})";

std::string recipeWith(const std::string& cures)
{
    return R"({"format": "quantscope.recipe", "version": 1, "cures": )" + cures + "}";
}

std::string cureError(const std::string& cure)
{
    const auto recipe = parseRecipe(recipeWith("[" + cure + "]"), "r.json");
    return recipe ? "" : recipe.error().line();
}

/// One of each kind, with every key that it takes.
std::string everyCure()
{
    const std::string conv(kConv), add(kAdd);
    return R"([{"cure": "range", "at": )" + conv + R"(, "readers": [{"node": )" + add
        + R"(, "argument": "other"}], "qconfig": "tune_1", "gain_db": 4.2, "by": "tune 1f3a", "off": true},)"
        + R"({"cure": "range", "at": {"input": "x"}, "qconfig": "tune_1"},)"
        + R"({"cure": "float", "at": )" + conv + R"(, "nodes": [)" + add
        + R"(, {"added": "clip"}]},)" + R"({"cure": "float_result", "at": )" + conv
        + R"(, "gain_db": -0.5},)"
        + R"({"cure": "bound", "at": {"stored": "mask"}, "bound": 104.0},)"
        + R"({"cure": "dynamic", "at": )" + conv
        + R"(, "qconfig": "default_dynamic", "off": false},)" + R"({"cure": "split", "at": )" + conv
        + R"(, "nodes": [)" + add + R"(], "channels": [0, 3, 99], "qconfig": "tune_1"},)"
        + R"({"cure": "equalize", "at": )" + conv + R"(, "nodes": [)" + add + R"(]},)"
        + R"({"cure": "smooth", "at": )" + conv + R"(, "scales": [1.0, 2.5]},)"
        + R"({"cure": "round", "at": )" + conv + R"(, "nodes": [)" + add
        + R"(], "file": "r.cures/9c1e.npz", "sha256": "9c1e"},)" + R"({"cure": "bias", "at": )"
        + conv + R"(, "file": "r.cures/9c1e.npz", "sha256": "9c1e"}])";
}

} // namespace

/// The recipe's list of cures: read, written, refused, described.
class TestCures : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyKindIsRead()
    {
        const auto recipe = parseRecipe(recipeWith(everyCure()), "r.json");
        QVERIFY2(recipe.has_value(), cureError(everyCure()).c_str());
        QCOMPARE(recipe->cures.size(), std::size_t(11));
        const Cure& range = recipe->cures[0];
        QVERIFY(range.kind == CureKind::Range);
        QCOMPARE(range.at.module, std::string("layer1.0"));
        QCOMPARE(range.readers.at(0).node.index, 1);
        QCOMPARE(range.readers.at(0).argument, std::string("other"));
        QCOMPARE(range.qconfig, std::string("tune_1"));
        QCOMPARE(range.gainDb, std::optional(4.2));
        QCOMPARE(range.by, std::string("tune 1f3a"));
        QVERIFY(range.off && !recipe->cures[5].off);
        QVERIFY(recipe->cures[1].at.kind == ValueAddress::Kind::Input);
        QCOMPARE(recipe->cures[2].nodes.size(), std::size_t(2));
        QCOMPARE(recipe->cures[4].bound, std::optional(104.0));
        QCOMPARE(recipe->cures[6].channels, (std::vector<int> {0, 3, 99}));
        QCOMPARE(recipe->cures[6].nodes.size(), std::size_t(1));
        QCOMPARE(recipe->cures[7].nodes.size(), std::size_t(1));
        QCOMPARE(recipe->cures[8].scales, (std::vector<double> {1, 2.5}));
        QCOMPARE(recipe->cures[9].nodes.size(), std::size_t(1));
        QVERIFY(recipe->cures[10].file.ends_with("r.cures/9c1e.npz"));
    }
    void writtenCuresAreRead()
    {
        const auto recipe = parseRecipe(recipeWith(everyCure()), "r.json");
        const std::string text = recipeToJson(*recipe);
        const auto again = parseRecipe(text, "r.json");
        QVERIFY2(again.has_value(), text.c_str());
        QVERIFY(*again == *recipe);
        QCOMPARE(recipeToJson(*again), text);
    }
    /// Taking a cure and giving it up again leaves the bytes of the recipe.
    void aRemovedCureLeavesTheBytes()
    {
        auto recipe = parseRecipe(recipeWith(everyCure()), "r.json");
        Recipe without = *recipe;
        without.cures.clear();
        const std::string bytes = recipeToJson(without);
        QVERIFY(bytes.find("cure") == std::string::npos);
        for (std::size_t i = 0; i < recipe->cures.size(); ++i) {
            Recipe one = without;
            one.cures.push_back(recipe->cures[i]);
            QVERIFY(recipeToJson(one) != bytes);
            one.cures.pop_back();
            QCOMPARE(recipeToJson(one), bytes);
        }
    }
    void badCuresAreNamed_data()
    {
        QTest::addColumn<QString>("cure");
        QTest::addColumn<QStringList>("words");
        const QString at = R"("at": )" + QString(kConv);
        QTest::newRow("no object") << "3" << QStringList {"cures[0]", "a cure is an object"};
        QTest::newRow("no kind") << "{" + at + "}"
                                 << QStringList {"cures[0]", "a cure is an object"};
        QTest::newRow("kind") << R"({"cure": "flot", )" + at + "}"
                              << QStringList {"cures[0].cure", "'flot'", "did you mean 'float'?"};
        QTest::newRow("key") << R"({"cure": "float", "gain": 1, )" + at + "}"
                             << QStringList {"cures[0]", "unknown key 'gain'", "gain_db"};
        QTest::newRow("key of another kind") << R"({"cure": "float", "bound": 1, )" + at + "}"
                                             << QStringList {"cures[0]", "unknown key 'bound'"};
        QTest::newRow("no address")
            << R"({"cure": "float"})" << QStringList {"cures[0]", "'at' is missing"};
        QTest::newRow("address") << R"({"cure": "float", "at": "conv"})"
                                 << QStringList {"cures[0].at", "an address is"};
        QTest::newRow("this") << R"({"cure": "float", "at": "this"})"
                              << QStringList {"cures[0].at", "is not valid here"};
        QTest::newRow("an input for an operator")
            << R"({"cure": "dynamic", "qconfig": "a", "at": {"input": "x"}})"
            << QStringList {"cures[0].at", "'dynamic' is not for input x", "name an operator"};
        QTest::newRow("what is stored for a value")
            << R"({"cure": "range", "qconfig": "a", "at": {"stored": "w"}})"
            << QStringList {"cures[0].at", "'range' is not for w"};
        QTest::newRow("no qconfig") << R"({"cure": "range", )" + at + "}"
                                    << QStringList {"cures[0]", "'qconfig' is missing"};
        QTest::newRow("null qconfig") << R"({"cure": "range", "qconfig": null, )" + at + "}"
                                      << QStringList {"cures[0].qconfig", "expected a string"};
        QTest::newRow("no bound") << R"({"cure": "bound", )" + at + "}"
                                  << QStringList {"cures[0]", "'bound' is missing"};
        QTest::newRow("bound 0") << R"({"cure": "bound", "bound": 0, )" + at + "}"
                                 << QStringList {"cures[0].bound", "above 0"};
        QTest::newRow("bound") << R"({"cure": "bound", "bound": "104", )" + at + "}"
                               << QStringList {"cures[0].bound", "expected a number"};
        QTest::newRow("no channels") << R"({"cure": "split", )" + at + "}"
                                     << QStringList {"cures[0]", "'channels' is missing"};
        const auto split = [&](const char* channels) {
            return R"({"cure": "split", "channels": )" + QString(channels) + ", " + at + "}";
        };
        QTest::newRow("channels") << split("3") << QStringList {"cures[0].channels", "list"};
        QTest::newRow("none") << split("[]") << QStringList {"cures[0].channels", "empty"};
        QTest::newRow("channel") << split("[-1]") << QStringList {"cures[0].channels[0]", "from 0"};
        QTest::newRow("order") << split("[3, 3]")
                               << QStringList {"cures[0].channels", "ascending order"};
        QTest::newRow("no scales") << R"({"cure": "smooth", )" + at + "}"
                                   << QStringList {"cures[0]", "'scales' is missing"};
        QTest::newRow("scale 0") << R"({"cure": "smooth", "scales": [1, 0], )" + at + "}"
                                 << QStringList {"cures[0].scales[1]", "above 0"};
        QTest::newRow("gain") << R"({"cure": "float", "gain_db": "4", )" + at + "}"
                              << QStringList {"cures[0].gain_db", "expected a number"};
        QTest::newRow("off") << R"({"cure": "float", "off": 1, )" + at + "}"
                             << QStringList {"cures[0].off", "true or false"};
        QTest::newRow("by") << R"({"cure": "float", "by": "", )" + at + "}"
                            << QStringList {"cures[0].by", "empty"};
        QTest::newRow("nodes") << R"({"cure": "float", "nodes": {}, )" + at + "}"
                               << QStringList {"cures[0].nodes", "expected a list"};
        QTest::newRow("a stored node") << R"({"cure": "float", "nodes": [{"stored": "w"}], )" + at
                + "}" << QStringList {"cures[0].nodes[0]", "'float' is not for w"};
        QTest::newRow("no readers") << R"({"cure": "range", "qconfig": "a", "readers": [], )" + at
                + "}" << QStringList {"cures[0].readers", "the list is empty", "for every reader"};
        QTest::newRow("reader") << R"({"cure": "range", "qconfig": "a", "readers": ["conv"], )" + at
                + "}" << QStringList {"cures[0].readers[0]", "expected an object"};
    }
    void badCuresAreNamed()
    {
        QFETCH(QString, cure);
        QFETCH(QStringList, words);
        const QString line = QString::fromStdString(cureError(cure.toStdString()));
        QVERIFY(!line.contains('\n'));
        for (const QString& word : words)
            QVERIFY2(line.contains(word), qPrintable(word + " is not in: " + line));
    }
    void aListIsWanted()
    {
        const auto recipe = parseRecipe(recipeWith("{}"), "r.json");
        QVERIFY(!recipe);
        QVERIFY2(recipe.error().line().find("cures: expected a list") != std::string::npos,
                 recipe.error().line().c_str());
    }
    /// The keys of the kinds are those of the table, and no others; each kind is explained.
    void curesHaveTheKeysOfTheTable()
    {
        std::set<std::string> ofKinds {"cure"};
        ofKinds.insert(commonCureKeys().begin(), commonCureKeys().end());
        QCOMPARE(cureKeys().size(), cureKindNames().size());
        for (const EditKeys& kind : cureKeys()) {
            ofKinds.insert(kind.needed.begin(), kind.needed.end());
            ofKinds.insert(kind.others.begin(), kind.others.end());
        }
        const std::vector<std::string> keys = keyTable("recipe", "cures[0]").keys();
        QCOMPARE(ofKinds, std::set<std::string>(keys.begin(), keys.end()));
        for (const std::string& name : cureKindNames()) {
            const std::string row = keyPage("recipe");
            QVERIFY2(row.find("| `" + name + "` | `") != std::string::npos, name.c_str());
            QVERIFY(cureKindName(*cureKindFromName(name)) == name);
        }
        QVERIFY(!cureKindFromName("smoothe"));
    }
    void curesAreToldInWords()
    {
        const auto recipe = parseRecipe(recipeWith(everyCure()), "r.json");
        QCOMPARE(cureLine(recipe->cures[0]),
                 std::string("range of layer1.0 · conv2d for layer1.0 · add 2 (other): tune_1, "
                             "+4.2 dB, by tune 1f3a, off"));
        QCOMPARE(cureText(recipe->cures[2]),
                 std::string("keep layer1.0 · conv2d float, with 2 more"));
        QCOMPARE(cureLine(recipe->cures[3]),
                 std::string("float result of layer1.0 · conv2d, -0.5 dB"));
        QCOMPARE(cureText(recipe->cures[4]), std::string("bound mask at 104"));
        QCOMPARE(cureText(recipe->cures[7]),
                 std::string("equalize layer1.0 · conv2d, with 1 more and what reads it"));
        QCOMPARE(cureText(recipe->cures[8]), std::string("scale 2 channels of layer1.0 · conv2d"));
        QCOMPARE(cureMark(recipe->cures[0]), std::string("cure range (tune 1f3a)"));
        QCOMPARE(cureMark(recipe->cures[3]), std::string("cure float_result"));
    }
};

QTEST_APPLESS_MAIN(TestCures)
#include "tst_cures.moc"

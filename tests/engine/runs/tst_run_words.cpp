// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/configure/qconfigs/qconfig_presets.h"
#include "engine/runs/recipe_diff.h"

#include <QtTest/QtTest>

using namespace qs;

/// Runs are named by what was decided, in words, and nodes by where they stand in the model.
class TestRunWords : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// A range that was dragged, a qconfig of one's own, lists and objects: no JSON in a name.
    void namesAreSentences()
    {
        const Recipe before = defaultRecipe();
        const QConfig usual = *presetQConfig("x86");
        QConfig fixed = usual;
        fixed.activation = observedBy(usual.activation, ObserverKind::FixedQParams);
        fixed.activation.scale = 0.0206;
        fixed.activation.zeroPoint = 18;
        const NodeIdentity nodes[] = {{"a", "conv2d_3", "features.0.2", "aten.conv2d.default"},
                                      {"a", "add_1", "block", "aten.add.Tensor"},
                                      {"a", "relu_4", "block", "aten.relu.default"},
                                      {"a", "relu_5", "block", "aten.relu.default"}};
        std::vector<const NodeIdentity*> all;
        for (const NodeIdentity& node : nodes)
            all.push_back(&node);
        const RecordedTitles titles(all);
        QCOMPARE(titles.of("conv2d_3"), std::string("features.0.2"));
        QCOMPARE(titles.of("add_1"), std::string("block · add"));
        QCOMPARE(titles.of("relu_5"), std::string("block · relu (relu_5)"));
        QCOMPARE(titles.of("missing"), std::string("missing"));
        const auto with = [&](const Recipe& recipe, Rule rule, const QConfig& qconfig,
                              const std::string& name) {
            Recipe out = recipe;
            rule.qconfig = {name, qconfig};
            out.qconfigs[name] = qconfig;
            out.mapping.rules.push_back(rule);
            return out;
        };
        const Recipe ranged = with(before, {RuleKind::Node, "conv2d_3", "", 0, {}}, fixed, "r");
        QCOMPARE(changeInWords(before, ranged, titles),
                 std::string("range of features.0.2: −0.371…2.25"));
        QCOMPARE(diffRecipes(before, ranged, titles).front().text(),
                 std::string("range of features.0.2: now −0.371…2.25"));
        QConfig wider = fixed;
        wider.activation.scale *= 2;
        Recipe again = before;
        again.qconfigs["r2"] = wider;
        again.mapping.rules.push_back({RuleKind::Node, "conv2d_3", "", 0, {"r2", wider}});
        QCOMPARE(diffRecipes(ranged, again, titles).front().text(),
                 std::string("range of features.0.2: −0.371…2.25 ► −0.742…4.49"));
        // One decision on a value is a rule for each of its readers.
        Recipe edges = with(before, {RuleKind::Edge, "add_1", "relu_4", 0, {}}, fixed, "r");
        edges = with(edges, {RuleKind::Edge, "add_1", "relu_5", 0, {}}, fixed, "r");
        QCOMPARE(changeInWords(before, edges, titles),
                 std::string("range of block · add: −0.371…2.25"));
        QConfig narrow = usual;
        narrow.activation.reduceRange = false;
        narrow.activation.quantMin = 0;
        narrow.activation.quantMax = 63;
        const Recipe bits = with(before, {RuleKind::ModuleName, "fc", "", 0, {}}, narrow, "six");
        QCOMPARE(changeInWords(before, bits), std::string("fc activations integers 0…63"));
        Recipe tuned = before, further = before;
        Cure taken;
        for (const char* by : {"tune 1f3a, trial 2", "tune 1f3a, trial 10", "tune 1f3a, trial 4"}) {
            taken.by = by;
            tuned.cures.push_back(taken);
        }
        QCOMPARE(changeInWords(before, tuned), std::string("tune 1f3a, trial 10"));
        QVERIFY(recipeInWords(tuned).ends_with("3 cures (tune 1f3a, trial 10)"));
        further = tuned;
        taken.by = "tune 77b0, trial 3"; // a later search went on from it
        further.cures.push_back(taken);
        QCOMPARE(changeInWords(tuned, further), std::string("tune 77b0, trial 3"));
        further.cures.back().off = true;
        QVERIFY(changeInWords(tuned, further) != "tune 1f3a, trial 10");
        for (const char* by : {"train", "tune 1f3a", "tune 1f3a, trial 0", "tune 1f3a, trial x"}) {
            taken.by = by;
            Recipe other = before;
            other.cures.push_back(taken);
            QVERIFY(recipeInWords(other).ends_with("1 cure"));
        }
        Recipe settings = before;
        settings.prepare.unfuse = {"bn1", "bn2"};
        QCOMPARE(changeInWords(before, settings), std::string("prepare unfuse bn1, bn2"));
        Recipe unused = before;
        unused.qconfigs["mine"] = narrow;
        QCOMPARE(changeInWords(before, unused), std::string("qconfig mine defined"));
        Recipe changed = unused;
        changed.qconfigs["mine"].activation.quantMax = 127;
        for (const Recipe& recipe : {ranged, again, edges, bits, settings, unused, changed})
            for (const Recipe& from : {before, unused})
                for (const RecipeDifference& difference : diffRecipes(from, recipe, titles))
                    for (const char sign : {'{', '}', '[', ']', '"', '_'})
                        QVERIFY2(difference.text().find(sign) == std::string::npos
                                     || difference.text().find("relu_") != std::string::npos,
                                 difference.text().c_str());
    }
};

QTEST_GUILESS_MAIN(TestRunWords)
#include "tst_run_words.moc"

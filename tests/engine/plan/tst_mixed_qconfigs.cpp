// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan_diff.h"
#include "engine/plan/planner.h"
#include "tests/engine/plan/graph_maker.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

/// x -> conv c -> relu r -> linear l
Graph model()
{
    GraphMaker m;
    return m.finish({m.linear("l", m.relu("r", m.conv("c", m.input("x"))))});
}

/// The preset for everything, and a rule for the linear layer or its input where one is named;
/// "null" keeps it float.
Recipe recipeOf(const std::string& global, const std::string& forLinear = {}, bool edge = false)
{
    Recipe recipe = defaultRecipe();
    recipe.mapping.rules.front().qconfig = {global, presetQConfig(global)};
    if (forLinear.empty())
        return recipe;
    Rule rule;
    rule.kind = edge ? RuleKind::Edge : RuleKind::ModuleName;
    rule.key = edge ? "r" : "l";
    rule.secondKey = edge ? "l" : "";
    if (forLinear != "null")
        rule.qconfig = {forLinear, presetQConfig(forLinear)};
    recipe.mapping.rules.push_back(std::move(rule));
    return recipe;
}

Result<Plan> planOf(const Recipe& recipe)
{
    return makePlan(model(), recipe, *findBackend(recipe.target()));
}

QString errorOf(const Recipe& recipe)
{
    const auto plan = planOf(recipe);
    return plan ? QString() : QString::fromStdString(plan.error().line());
}

const NodePlan& nodeOf(const Plan& plan, const std::string& name)
{
    static const Graph graph = model();
    return *plan.tryGet(graph, graph.tryFind(name)->id);
}

} // namespace

class TestMixedQConfigs : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void namesNodesAndRulesOfBothKinds()
    {
        const QString line = errorOf(recipeOf("x86", "default_qat"));
        for (const char* word :
             {"mixed", "'c' has 'x86' (global)", "'l' has 'default_qat' (module_name 'l')"})
            QVERIFY2(line.contains(word), qPrintable(line));
        QVERIFY(!line.contains('\n'));
    }
    void anEdgeRuleCounts()
    {
        const QString line = errorOf(recipeOf("x86", "x86_qat", true));
        QVERIFY2(line.contains("the edge from 'r' to 'l' has 'x86_qat'"), qPrintable(line));
    }
    void oneKindPasses_data()
    {
        QTest::addColumn<QString>("global");
        QTest::addColumn<QString>("linear");
        QTest::addColumn<bool>("training");
        QTest::newRow("calibration") << "x86"
                                     << "qnnpack" << false;
        QTest::newRow("training") << "x86_qat"
                                  << "default_qat" << true;
        QTest::newRow("kept float") << "default_qat"
                                    << "null" << true;
        QTest::newRow("neutral") << "default_qat"
                                 << "float16_static" << true;
    }
    void oneKindPasses()
    {
        QFETCH(QString, global);
        QFETCH(QString, linear);
        QFETCH(bool, training);
        const auto plan = planOf(recipeOf(global.toStdString(), linear.toStdString()));
        QVERIFY2(plan.has_value(), plan ? "" : plan.error().line().c_str());
        QVERIFY(nodeOf(*plan, "c").quantized);
        bool warned = false;
        for (const auto& line : plan->warnings)
            warned = warned || line.find("trains for them") != std::string::npos;
        QCOMPARE(warned, training);
    }
    void fakeQuantizeObservesWithWhatIsInside()
    {
        const auto plan = planOf(recipeOf("x86_qat"));
        QVERIFY(plan.has_value());
        for (const auto& observer : plan->observers) {
            QVERIFY(observer.spec.kind == ObserverKind::MovingAverageMinMax
                    || observer.spec.kind == ObserverKind::MovingAveragePerChannelMinMax);
            QVERIFY(observer.spec.fakeQuantize == FakeQuantize::FusedMovingAverage);
        }
        QVERIFY(!plan->observers.empty());
    }
    void silentObserversQuantizeNothing_data()
    {
        QTest::addColumn<QString>("qconfig");
        QTest::addColumn<QString>("words");
        QTest::newRow("recording") << "default_debug"
                                   << "'recording', which chooses no scale";
        QTest::newRow("identity") << "default_weight_only"
                                  << "float32";
        QTest::newRow("noop") << "default_embedding_qat"
                              << "float32";
    }
    void silentObserversQuantizeNothing()
    {
        QFETCH(QString, qconfig);
        QFETCH(QString, words);
        const auto plan = planOf(recipeOf(qconfig.toStdString()));
        QVERIFY(plan.has_value());
        QCOMPARE(plan->quantizedOps, 0);
        const QString reason = QString::fromStdString(nodeOf(*plan, "c").reason.text());
        QVERIFY2(reason.contains(words), qPrintable(reason));
    }
    void aDiffListsWhatChanges()
    {
        const Graph graph = model();
        const auto base = planOf(recipeOf("x86"));
        const auto other = planOf(recipeOf("x86", "null"));
        QVERIFY(comparePlans(graph, *base, *base).empty());
        const auto changes = comparePlans(graph, *base, *other);
        QCOMPARE(changes.size(), std::size_t(1));
        QCOMPARE(graph.nodes()[changes[0].position]->name, std::string("l"));
        QVERIFY(changes[0].verdict && changes[0].qconfig && !changes[0].pattern);
        // The same qconfig under another name is not a change.
        const auto renamed = planOf(recipeOf("fbgemm"));
        QVERIFY(comparePlans(graph, *base, *renamed).empty());
    }
};

QTEST_GUILESS_MAIN(TestMixedQConfigs)
#include "tst_mixed_qconfigs.moc"

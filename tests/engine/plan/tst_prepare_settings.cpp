// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/graph_printer.h"
#include "engine/plan/block/prepare_settings.h"
#include "engine/plan/planner.h"
#include "tests/engine/plan/graph_maker.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

Recipe recipeWith(const std::string& prepare)
{
    auto recipe = parseRecipe(
        R"({"format": "quantscope.recipe", "version": 1, "prepare": )" + prepare + "}", "r.json");
    if (!recipe)
        qFatal("%s", recipe.error().line().c_str());
    return *recipe;
}

Plan planOf(const Graph& graph, const Recipe& recipe)
{
    const auto backend = findBackend("x86");
    auto plan = makePlan(graph, recipe, *backend);
    if (!plan)
        qFatal("%s", plan.error().line().c_str());
    return *plan;
}

const NodePlan& nodeOf(const Plan& plan, const Graph& graph, const std::string& name)
{
    return *plan.tryGet(graph, graph.tryFind(name)->id);
}

QString all(const std::vector<std::string>& lines)
{
    QString out;
    for (const auto& line : lines)
        out += QString::fromStdString(line) + "\n";
    return out;
}

QStringList namesOf(const Graph& graph, const std::vector<NodeId>& nodes)
{
    QStringList out;
    for (const NodeId node : nodes)
        out.append(QString::fromStdString(graph.get(node).name));
    return out;
}

/// backbone -> encoder (of class my.Encoder) -> head, whose method post_process calls a linear
/// layer and a module of the user's own with a convolution in it.
struct Detector
{
    GraphMaker maker;
    Graph graph;

    Detector()
    {
        GraphMaker& m = maker;
        m.edit.modules().add("", "Detector");
        m.edit.modules().add("encoder", "my.Encoder");
        m.edit.modules().add("head", "my.Head");
        m.edit.modules().add("head.refine", "my.Refine");
        ValueRef x = m.relu("backbone.relu", m.conv("backbone.conv", m.input("x")));
        x = m.relu("encoder.relu", m.conv("encoder.conv", x));
        x = glue("encoder_add", "encoder", "my.Encoder", "forward", x);
        x = inMethod(m.conv("head.cls", x), "forward");
        x = glue("head_scale", "head", "my.Head", "forward", x);
        x = glue("post_1", "head", "my.Head", "post_process", x);
        x = inMethod(m.linear("head.fc", x), "post_process");
        x = glue("refine_add", "head.refine", "my.Refine", "forward", x);
        x = inMethod(m.conv("head.refine.conv", x), "forward");
        x = glue("post_2", "head", "my.Head", "post_process", x);
        x = glue("after", "head", "my.Head", "forward", x);
        graph = m.finish({m.conv("tail", x)});
    }

private:
    ValueRef inMethod(ValueRef value, const char* function)
    {
        maker.edit.change(value.node).source.function = function;
        return value;
    }
    ValueRef glue(const char* name, const char* path, const char* moduleClass, const char* function,
                  ValueRef x)
    {
        return inMethod(maker.op(name, "aten.add.Tensor", {{"self", x}, {"other", 1.0}}, path,
                                 moduleClass, "method_descriptor.add"),
                        function);
    }
};

} // namespace

class TestPrepareSettings : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aLeafStaysFloatAndSaysWhy_data()
    {
        QTest::addColumn<QString>("prepare");
        QTest::addColumn<QString>("reason");
        QTest::addColumn<QString>("remedy");
        QTest::newRow("name") << R"({"non_traceable_module_name": ["encoder"]})"
                              << "prepare.non_traceable_module_name keeps module 'encoder' float"
                              << "take 'encoder' off prepare.non_traceable_module_name";
        QTest::newRow("class") << R"({"non_traceable_module_class": ["my.Encoder"]})"
                               << "prepare.non_traceable_module_class keeps modules of class "
                                  "'my.Encoder' float, and it "
                                  "belongs to 'encoder'"
                               << "take 'my.Encoder' off prepare.non_traceable_module_class";
    }
    void aLeafStaysFloatAndSaysWhy()
    {
        QFETCH(QString, prepare);
        QFETCH(QString, reason);
        QFETCH(QString, remedy);
        const Detector d;
        const Plan plan = planOf(d.graph, recipeWith(prepare.toStdString()));
        for (const char* name : {"encoder.conv", "encoder.relu", "encoder_add"}) {
            const NodePlan& node = nodeOf(plan, d.graph, name);
            QVERIFY2(!node.quantized && node.verdict == Verdict::FloatByRule, name);
            QCOMPARE(QString::fromStdString(node.reason.text()), reason);
            QCOMPARE(QString::fromStdString(node.remedy.text), remedy);
            QVERIFY(!node.qconfig && node.group < 0); // nothing inside is fused either
        }
        for (const char* name : {"backbone.conv", "backbone.relu", "head.cls", "tail"})
            QVERIFY2(nodeOf(plan, d.graph, name).quantized, name);
        for (const PlannedObserver& observer : plan.observers)
            if (observer.isWeight)
                QVERIFY(d.graph.get(observer.weightOwner).name != "encoder.conv");
    }
    void whatStandsBesideALeafIsObservedAsBefore()
    {
        const Detector d;
        const Plan plan
            = planOf(d.graph, recipeWith(R"({"non_traceable_module_name": ["encoder"]})"));
        const auto observes = [&](const char* name) {
            const ValueRef value {d.graph.tryFind(name)->id, 0};
            for (const PlannedObserver& observer : plan.observers)
                for (const ObservedEdge& edge : observer.edges)
                    if (edge.value == value)
                        return true;
            return false;
        };
        QVERIFY(observes("backbone.relu")); // the last quantized value before it
        QVERIFY(!observes("encoder.conv") && !observes("encoder.relu"));
        QVERIFY(observes("encoder_add")); // read by a quantized convolution
    }
    void aRuleInsideALeafHasNoEffectAndSaysSo()
    {
        const Detector d;
        Recipe recipe = recipeWith(R"({"non_traceable_module_name": ["encoder"]})");
        Rule rule;
        rule.kind = RuleKind::ModuleName;
        rule.key = "encoder.conv";
        rule.qconfig = {"x86", presetQConfig("x86")};
        recipe.mapping.rules.push_back(rule);
        const QString warnings = all(planOf(d.graph, recipe).warnings);
        QVERIFY2(
            warnings.contains("'encoder.conv' matches no operator that prepare lets be quantized"),
            qPrintable(warnings));
    }
    void onlyOneModuleIsQuantized()
    {
        const Detector d;
        const std::string before = printGraph(d.graph);
        const Plan plan = planOf(d.graph, recipeWith(R"({"only_modules": ["encoder"]})"));
        for (const NodePlan& node : plan.nodes) {
            const Node& of = d.graph.get(node.node);
            const bool inside = of.scope.path.starts_with("encoder");
            QVERIFY2(node.quantized == (inside && of.kind == NodeKind::Op), of.name.c_str());
            if (!inside && of.kind == NodeKind::Op)
                QCOMPARE(node.reason.text(),
                         "prepare.only_modules quantizes nothing outside 'encoder'");
        }
        QCOMPARE(printGraph(d.graph), before);
        // Exactly what is planned for the rest must not matter to the module.
        const Plan whole = planOf(d.graph, defaultRecipe());
        QVERIFY(nodeOf(whole, d.graph, "tail").quantized);
    }
    void aLeafInsideTheOnlyModuleStaysFloat()
    {
        const Detector d;
        const Plan plan = planOf(
            d.graph,
            recipeWith(
                R"({"only_modules": ["head"], "non_traceable_module_name": ["head.refine"]})"));
        QVERIFY(nodeOf(plan, d.graph, "head.cls").quantized);
        QVERIFY(nodeOf(plan, d.graph, "head.refine.conv").reason.text().find("'head.refine'")
                != std::string::npos);
        QVERIFY(!nodeOf(plan, d.graph, "backbone.conv").quantized);
    }
    void aWrappedModuleKeepsItsGlueFloat()
    {
        const Detector d;
        const Recipe recipe = recipeWith(R"({"wrap": ["head"]})");
        const auto wraps = wrapsOf(d.graph, recipe);
        QCOMPARE(wraps.size(), std::size_t(1));
        QCOMPARE(namesOf(d.graph, wraps[0].glue),
                 QStringList({"head_scale", "post_1", "refine_add", "post_2", "after"}));
        QVERIFY(wraps[0].modules
                == std::vector<std::string>({"head.cls", "head.fc", "head.refine.conv"}));
        const Plan plan = planOf(d.graph, recipe);
        for (const NodeId node : wraps[0].glue) {
            QVERIFY(!plan.tryGet(d.graph, node)->quantized);
            QCOMPARE(plan.tryGet(d.graph, node)->reason.text(),
                     "it is glue of 'head', which prepare.wrap keeps as one node");
        }
        for (const NodeId node : wraps[0].inner)
            QVERIFY(plan.tryGet(d.graph, node)->quantized);
        QVERIFY(nodeOf(plan, d.graph, "encoder_add").quantized);
    }
    void aWrappedMethodEndsWhereItEnds()
    {
        const Detector d;
        const Recipe recipe = recipeWith(R"({"wrap": ["head::post_process"]})");
        const auto wraps = wrapsOf(d.graph, recipe);
        QCOMPARE(wraps.size(), std::size_t(1));
        QCOMPARE(namesOf(d.graph, wraps[0].glue), QStringList({"post_1", "refine_add", "post_2"}));
        QVERIFY(wraps[0].modules == std::vector<std::string>({"head.fc", "head.refine.conv"}));
        const Plan plan = planOf(d.graph, recipe);
        QVERIFY(nodeOf(plan, d.graph, "head_scale").quantized);
        QVERIFY(nodeOf(plan, d.graph, "after").quantized);
        QVERIFY(!nodeOf(plan, d.graph, "post_2").quantized);
    }
    void modulesInsideAWrapFollowTheirOwnRules()
    {
        const Detector d;
        Recipe recipe = recipeWith(R"({"wrap": ["head::post_process"]})");
        recipe.mapping.rules.clear();
        Rule rule;
        rule.kind = RuleKind::ModuleName;
        rule.key = "head.fc";
        rule.qconfig = {"x86", presetQConfig("x86")};
        recipe.mapping.rules.push_back(rule);
        const Plan plan = planOf(d.graph, recipe);
        QCOMPARE(plan.quantizedOps, 1);
        QVERIFY(nodeOf(plan, d.graph, "head.fc").quantized);
        QVERIFY(!nodeOf(plan, d.graph, "head.refine.conv").quantized);
    }
    void namesTheModelLacks()
    {
        const Detector d;
        const QString warnings = all(
            planOf(d.graph,
                   recipeWith(R"({"only_modules": ["encodr"], "wrap": ["haed", "head::postprocess"],
                                  "non_traceable_module_class": ["my.Encodr"]})"))
                .warnings);
        for (const char* wanted :
             {"prepare.only_modules: the model has no module 'encodr'; did you mean 'encoder'?",
              "prepare.wrap: the model has no module 'haed'; did you mean 'head'?",
              "prepare.wrap: no operator of module 'head' comes from 'postprocess'; the file knows "
              "forward, post_process",
              "class 'my.Encodr'; did you mean 'my.Encoder'?"})
            QVERIFY2(warnings.contains(wanted), qPrintable(warnings));
    }
};

QTEST_GUILESS_MAIN(TestPrepareSettings)
#include "tst_prepare_settings.moc"

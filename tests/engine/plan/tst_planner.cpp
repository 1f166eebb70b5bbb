// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/fusion_choices.h"
#include "engine/plan/planner.h"
#include "engine/plan/remedy.h"
#include "tests/engine/plan/decided_nodes.h"
#include "tests/engine/plan/graph_maker.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

Rule rule(RuleKind kind, const std::string& key, const std::string& qconfig)
{
    Rule out;
    out.kind = kind;
    out.key = key;
    if (!qconfig.empty())
        out.qconfig = {qconfig, presetQConfig(qconfig)};
    return out;
}

Recipe recipeWith(const std::vector<Rule>& rules)
{
    Recipe recipe = defaultRecipe();
    recipe.mapping.rules.insert(recipe.mapping.rules.end(), rules.begin(), rules.end());
    return recipe;
}

Recipe onlyRule(const Rule& rule)
{
    Recipe recipe = defaultRecipe();
    recipe.mapping.rules.assign(1, rule);
    return recipe;
}

const Backend& x86()
{
    static const Backend backend = *findBackend("x86");
    return backend;
}

Plan planOf(const Graph& graph, const Recipe& recipe = defaultRecipe(),
            const Backend& backend = x86())
{
    auto plan = makePlan(graph, recipe, backend);
    if (!plan)
        qFatal("%s", plan.error().line().c_str());
    return *plan;
}

QString text(const std::vector<std::string>& lines)
{
    QStringList out;
    for (const auto& line : lines)
        out << QString::fromStdString(line);
    return out.join("\n");
}

/// "x conv relu=1": observed values with their observer, in order of the observers.
std::string activations(const Plan& plan, const Graph& graph)
{
    std::string out;
    for (const auto& observer : plan.observers)
        for (const auto& edge : observer.edges)
            if (!observer.isWeight)
                out += (out.empty() ? "" : " ") + graph.value(edge.value).name + "="
                    + std::to_string(observer.id.value()) + (edge.readers.empty() ? "" : "!");
    return out;
}

} // namespace

class TestPlanner : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void fusesConvBnRelu()
    {
        GraphMaker m;
        const auto x = m.input("x");
        const Graph g = m.finish({m.relu("r", m.batchNorm("bn", m.conv("c", x)))});
        const Plan plan = planOf(g);
        QCOMPARE(plan.groups.size(), std::size_t(1));
        const MatchGroup& group = plan.groups[0];
        QCOMPARE(group.members.size(), std::size_t(3));
        QVERIFY(group.fused && group.quantized && group.dtypeConfig);
        QCOMPARE(group.root, g.tryFind("c")->id);
        QCOMPARE(group.fusedModule, std::string("torch.ao.nn.intrinsic.ConvReLU2d"));
        QCOMPARE(group.referenceModule, std::string("torch.ao.nn.quantized.reference.Conv2d"));
        QCOMPARE(activations(plan, g), std::string("x=1 r=3"));
        QVERIFY(plan.observers[1].isWeight);
        QCOMPARE(plan.observers[1].weightOwner, group.root);
        QCOMPARE(plan.quantizedOps, 3);
        const std::vector<std::string> pattern {"torch.nn.Conv2d", "torch.nn.BatchNorm2d",
                                                "torch.nn.ReLU"};
        for (const char* name : {"c", "bn", "r"}) {
            QVERIFY(nodeOf(plan, g, name).quantized);
            QVERIFY(nodeOf(plan, g, name).pattern == pattern);
        }
    }
    void secondReaderBlocksFusion()
    {
        GraphMaker m;
        const auto c = m.conv("c", m.input("x"));
        const Graph g = m.finish({m.plus("sum", m.relu("r", m.batchNorm("bn", c)), c)});
        const Plan plan = planOf(g);
        QVERIFY(nodeOf(plan, g, "c").pattern.size() == 1);
        QVERIFY(nodeOf(plan, g, "bn").pattern.size() == 2); // BNReLU2d
        QVERIFY(QString::fromStdString(nodeOf(plan, g, "c").remedy.text).contains("2 users"));
    }
    void precedenceAndOverrides()
    {
        GraphMaker m;
        const auto x = m.input("x");
        const auto a = m.conv("body.a", x);
        const auto b = m.conv("body.b", a);
        const auto c = m.conv("body.c", b);
        const auto d = m.batchNorm("norm", m.conv("body.d", c)); // a Conv2d in two ways
        const Graph g = m.finish({m.conv("head", d)});
        Rule order = rule(RuleKind::ModuleNameObjectTypeOrder, "body", "default");
        order.secondKey = "torch.nn.Conv2d";
        order.index = 2;
        const Plan plan = planOf(
            g,
            recipeWith({rule(RuleKind::ObjectType, "torch.nn.modules.conv.Conv2d", "qnnpack"),
                        rule(RuleKind::ModuleNameRegex, "body\\..*", "onednn"),
                        rule(RuleKind::ModuleName, "body.b", ""), order,
                        rule(RuleKind::Node, "body.d", "default_per_channel")}));
        const auto winner = [&](const char* name) { return nodeOf(plan, g, name).rule; };
        QVERIFY(winner("head").kind == RuleKind::ObjectType);
        QCOMPARE(nodeOf(plan, g, "head").overrides.size(), std::size_t(1));
        QVERIFY(winner("body.a").kind == RuleKind::ModuleNameRegex);
        QVERIFY(winner("body.b").kind == RuleKind::ModuleName);
        QVERIFY(nodeOf(plan, g, "body.b").verdict == Verdict::FloatByRule);
        QVERIFY(reasonOf(plan, g, "body.b").contains("body.b"));
        QVERIFY(winner("body.c").kind == RuleKind::ModuleNameObjectTypeOrder);
        QVERIFY(winner("body.d").kind == RuleKind::Node);
        QCOMPARE(nodeOf(plan, g, "body.d").overrides.size(), std::size_t(3));
        QCOMPARE(nodeOf(plan, g, "body.d").qconfigName, std::string("default_per_channel"));
    }
    void nearestModuleWins()
    {
        GraphMaker m;
        const Graph g = m.finish({m.conv("a.b.c", m.input("x"))});
        const Plan plan = planOf(g,
                                 recipeWith({rule(RuleKind::ModuleName, "a.b", "qnnpack"),
                                             rule(RuleKind::ModuleName, "a", "")}));
        QCOMPARE(nodeOf(plan, g, "a.b.c").rule.key, std::string("a.b"));
        QVERIFY(nodeOf(plan, g, "a.b.c").quantized);
    }
    void conflictInAFusionHasTwoWaysOut()
    {
        GraphMaker m;
        const Graph g = m.finish({m.relu("r", m.batchNorm("b", m.conv("c", m.input("x"))))});
        const Recipe recipe = recipeWith({rule(RuleKind::ModuleName, "r", "")});
        const Plan plan = planOf(g, recipe);
        QCOMPARE(plan.conflicts.size(), std::size_t(1));
        const FusionConflict& conflict = plan.conflicts[0];
        QCOMPARE(conflict.root, g.tryFind("c")->id);
        QCOMPARE(conflict.member, g.tryFind("r")->id);
        QVERIFY(conflict.rootQConfig.config && !conflict.memberQConfig.config);

        const Recipe apart = unfuse(recipe, g, conflict);
        QCOMPARE(unfuse(apart, g, conflict), apart);
        QCOMPARE(*parseRecipe(recipeToJson(apart), "recipe.json"), apart);
        const Plan split = planOf(g, apart);
        QVERIFY(split.conflicts.empty());
        QCOMPARE(nodeOf(split, g, "c").pattern.size(), std::size_t(2));
        QVERIFY(nodeOf(split, g, "c").quantized);
        QCOMPARE(int(nodeOf(split, g, "r").verdict), int(Verdict::FloatByRule));

        const Plan both = planOf(g, applyToFusion(recipe, g, plan, conflict));
        QVERIFY(both.conflicts.empty());
        QCOMPARE(int(nodeOf(both, g, "c").verdict), int(Verdict::FloatByRule));
        QVERIFY(both.groups[0].fused);

        Recipe stranger = recipe;
        stranger.prepare.unfuse = {"missing"};
        QVERIFY(text(planOf(g, stranger).warnings).contains("'missing'"));
    }
    void fusionTakesItsRootsQConfigAndWarns()
    {
        GraphMaker m;
        const Graph g = m.finish({m.relu("r", m.batchNorm("bn", m.conv("c", m.input("x"))))});
        const Plan off = planOf(g, recipeWith({rule(RuleKind::ModuleName, "r", "")}));
        QVERIFY(nodeOf(off, g, "r").quantized);
        QVERIFY2(text(off.warnings).contains("'r' is fused into 'c'"),
                 qPrintable(text(off.warnings)));
        const Plan root = planOf(g, recipeWith({rule(RuleKind::ModuleName, "c", "")}));
        QVERIFY(!nodeOf(root, g, "r").quantized && root.groups[0].fused);
        const Plan norm = planOf(g, recipeWith({rule(RuleKind::ModuleName, "bn", "")}));
        QVERIFY(nodeOf(norm, g, "bn").quantized);
        QVERIFY2(text(norm.warnings).contains("'bn' is fused into 'c'"),
                 qPrintable(text(norm.warnings)));
        QCOMPARE(nodeOf(norm, g, "bn").overrides.at(0).key, std::string("bn"));
        QVERIFY(root.warnings.empty()); // what a rule for the root overrides is not lost
    }
    void sharesObservers()
    {
        GraphMaker m;
        const auto x = m.input("x");
        const auto pool = m.op("p", "aten.avg_pool2d.default",
                               {{"self", m.cat("k", {m.conv("a", x), m.conv("b", x)})}}, "p",
                               "torch.nn.AvgPool2d");
        const Graph g = m.finish({pool});
        const Plan plan = planOf(g);
        QCOMPARE(activations(plan, g), std::string("x=1 a=3 b=3 k=3 p=3"));
        QVERIFY(nodeOf(plan, g, "p").verdict == Verdict::Shared);
    }
    void oneValueManyReaders()
    {
        GraphMaker m;
        const auto x = m.input("x");
        const auto gelu = m.op("g", "aten.gelu.default", {{"self", x}}, "g", "torch.nn.GELU");
        const Graph g = m.finish(
            {m.conv("a", x), m.conv("b", x), m.plus("s", gelu, gelu), m.plus("t", gelu, 2), x});
        const Plan plan = planOf(g);
        // x also has float readers, so the observer sits on its quantized readers alone.
        const PlannedObserver& first = plan.observers[0];
        QCOMPARE(g.value(first.edges[0].value).name, std::string("x"));
        QCOMPARE(first.edges[0].readers.size(), std::size_t(2));
        const QString all = QString::fromStdString(activations(plan, g));
        QCOMPARE(all.count("x="), 1);
        QCOMPARE(all.count("g="), 1);
        QVERIFY(nodeOf(plan, g, "t").verdict == Verdict::Shared); // adding a number shares
        QVERIFY(nodeOf(plan, g, "s").verdict == Verdict::Quantized);
        QVERIFY(nodeOf(plan, g, "g").verdict == Verdict::FloatByBackend);
        QVERIFY(reasonOf(plan, g, "g").contains("torch.nn.GELU"));
    }
    void edgeRulesObserveOneInputOtherwise()
    {
        GraphMaker m;
        const auto a = m.conv("a", m.input("x"));
        const Graph g = m.finish({m.conv("b", a), m.conv("c", a)});
        Rule edge = rule(RuleKind::Edge, "a", "qnnpack");
        edge.secondKey = "c";
        const Plan plan = planOf(g, recipeWith({edge}));
        QVERIFY(QString::fromStdString(activations(plan, g)).contains("a=3 "));
        QVERIFY(QString::fromStdString(activations(plan, g)).contains("!"));
        edge.qconfig = {};
        const Plan off = planOf(g, recipeWith({edge}));
        QVERIFY(nodeOf(off, g, "b").quantized && !nodeOf(off, g, "c").quantized);
        QVERIFY(reasonOf(off, g, "c").contains("edge rule"));
    }
    void onlyFloatTensorsAreObserved()
    {
        GraphMaker m;
        const auto ids = m.input("ids", DType::Int64);
        const Graph g = m.finish({m.plus("s", ids, ids)});
        const Plan plan = planOf(g);
        QVERIFY(plan.observers.empty());
        QVERIFY(reasonOf(plan, g, "s").contains("int64"));
    }
    void reuseInputNeedsSomethingToReuse()
    {
        GraphMaker m;
        const auto flat = m.method("flat", "reshape", m.input("x"));
        const Graph g = m.finish({m.method("again", "reshape", m.linear("l", flat))});
        const Plan plan = planOf(g);
        QVERIFY(!nodeOf(plan, g, "flat").quantized && !nodeOf(plan, g, "flat").reason.empty());
        QVERIFY(nodeOf(plan, g, "again").verdict == Verdict::Shared);
        QVERIFY(text(plan.warnings).contains("is not observed"));
    }
    void constraintsNameRequiredAndGiven()
    {
        GraphMaker m;
        const Graph g = m.finish({m.linear("l", m.input("x"))});
        const Backend mine = *readBackend(QS_SOURCE_DIR "/tests/engine/plan/my_backend.json");
        const Plan plan = planOf(g, defaultRecipe(), mine);
        const NodePlan& node = nodeOf(plan, g, "l");
        QVERIFY(node.verdict == Verdict::FloatByConstraint && node.eligible);
        const std::string words = "has no pattern for Linear with activation eps 1.1920929e-07 "
                                  "(it requires a smallest scale of at least 0.000244140625)";
        QCOMPARE(node.reason.text(), "backend my_backend " + words);
        QVERIFY(QString::fromStdString(node.remedy.text).contains("eps"));
        QCOMPARE(plan.quantizedOps, 0);
    }
    void remediesQuantize_data()
    {
        QTest::addColumn<QString>("qconfig");
        QTest::newRow("smallest scale") << "x86";
        QTest::newRow("dtype") << "default_per_channel_symmetric_qnnpack";
        QTest::newRow("mode") << "default_dynamic";
        QTest::newRow("half") << "float16_static";
        QTest::newRow("weight only") << "float_qparams_weight_only";
        QTest::newRow("null") << "";
    }
    void remediesQuantize()
    {
        QFETCH(QString, qconfig);
        GraphMaker m;
        const Graph g = m.finish({m.relu("r", m.conv("c", m.input("x")))});
        const Backend mine = *readBackend(QS_SOURCE_DIR "/tests/engine/plan/my_backend.json");
        Recipe recipe = onlyRule(rule(RuleKind::Global, "", qconfig.toStdString()));
        const Plan before = planOf(g, recipe, mine);
        const NodePlan& node = nodeOf(before, g, "c");
        QVERIFY(!node.quantized && node.remedy && !node.remedy.text.empty());
        recipe = applyRemedy(recipe, g, before, node.node);
        const auto reread = parseRecipe(recipeToJson(recipe), "recipe");
        QVERIFY(reread && *reread == recipe);
        const Plan after = planOf(g, recipe, mine);
        QVERIFY2(nodeOf(after, g, "c").quantized && nodeOf(after, g, "r").quantized,
                 nodeOf(after, g, "c").reason.text().c_str());
        QVERIFY(!nodeOf(after, g, "c").remedy);
    }
    void candidatesSayWhatFailed()
    {
        GraphMaker m;
        const Graph g = m.finish({m.linear("l", m.input("x"))});
        const Plan plan
            = planOf(g, onlyRule(rule(RuleKind::Global, "", "default_symmetric_qnnpack")), x86());
        const auto& candidates = nodeOf(plan, g, "l").candidates;
        QVERIFY(!candidates.empty());
        for (const Candidate& candidate : candidates)
            QVERIFY(candidate.entry >= 0 && !candidate.text.empty());
        QVERIFY(candidates.front().text.find("qint8") != std::string::npos
                && candidates.front().text.find("quint8") != std::string::npos);
    }
    void moduleWeightsAreHeldToTheirBounds()
    {
        GraphMaker m;
        const Graph g = m.finish({m.linear("l", m.input("x"))});
        Backend narrow = x86();
        for (auto& entry : narrow.patterns)
            for (auto& config : entry.dtypeConfigs) {
                config.weight.quantMinLowerBound = -64;
                config.weight.quantMaxUpperBound = 63;
            }
        const Plan plan = planOf(g, defaultRecipe(), narrow);
        const QString reason = reasonOf(plan, g, "l");
        QVERIFY2(reason.contains("-128..127") && reason.contains("-64..63")
                     && reason.contains("stricter than PyTorch"),
                 qPrintable(reason));
    }
    void unknownTypesAndIdleRules()
    {
        GraphMaker m;
        const Graph g = m.finish({m.conv("c", m.input("x"))});
        const auto bad
            = makePlan(g, recipeWith({rule(RuleKind::ObjectType, "torch.nn.Conv2D", "")}), x86());
        QVERIFY(!bad);
        const QString line = QString::fromStdString(bad.error().line());
        QVERIFY2(line.contains("torch.nn.Conv2D")
                     && line.contains("did you mean 'torch.nn.Conv2d'?"),
                 qPrintable(line));
        const Plan plan = planOf(g,
                                 recipeWith({rule(RuleKind::ObjectType, "torch.nn.GELU", ""),
                                             rule(RuleKind::ModuleName, "layer9", "x86"),
                                             rule(RuleKind::Node, "conv2d_7", "")}));
        const QString all = text(plan.warnings);
        QVERIFY2(all.contains("torch.nn.GELU") && all.contains("'layer9' matches nothing")
                     && all.contains("no such node"),
                 qPrintable(all));
        QVERIFY(nodeOf(plan, g, "c").quantized);
    }
    void untracedModulesStayFloat()
    {
        GraphMaker m;
        const Graph g = m.finish({m.conv("b.c", m.conv("a", m.input("x")))});
        Recipe recipe = defaultRecipe();
        recipe.prepare.leafNames = {"b"};
        const Plan plan = planOf(g, recipe);
        QVERIFY(nodeOf(plan, g, "a").quantized && !nodeOf(plan, g, "b.c").quantized);
    }
    void unmatchedOperatorsGetASuggestion()
    {
        GraphMaker m;
        const auto x = m.input("x");
        const auto mm = m.op("mm", "aten.matmul.default", {{"self", x}, {"other", x}}, "", "Model",
                             "method_descriptor.matmul");
        const auto norm = m.op("norm", "aten.layer_norm.default", {{"input", mm}}, "norm",
                               "torch.nn.LayerNorm", "function.layer_norm");
        const Graph g = m.finish({m.op("act", "aten.gelu.default", {{"input", norm}}, "act",
                                       "torch.nn.GELU", "function.gelu")});
        const Plan plan = planOf(g);
        const auto textOf = [&](const char* name) {
            return QString::fromStdString(nodeOf(plan, g, name).remedy.text);
        };
        QVERIFY2(textOf("mm").contains("torch.matmul"), qPrintable(textOf("mm")));
        QVERIFY2(textOf("norm").contains("'native'"), qPrintable(textOf("norm")));
        QVERIFY2(textOf("act").contains("no shipped backend"), qPrintable(textOf("act")));
        QVERIFY(planOf(g, defaultRecipe(), *findBackend("native")).quantizedOps > 0);
    }
    void everyFloatOperatorHasAReason()
    {
        GraphMaker m;
        const auto w = m.op("w_t", "aten.t.default", {{"self", m.parameter("w")}}, "", "Model");
        const Graph g = m.finish({m.op("mm", "aten.gelu.default", {{"self", m.input("x")}}), w});
        Recipe none;
        const Plan plan = planOf(g, none);
        for (const char* name : {"mm", "w_t"})
            QVERIFY(!nodeOf(plan, g, name).reason.empty());
        QVERIFY(plan.observers.empty());
    }
};

QTEST_GUILESS_MAIN(TestPlanner)
#include "tst_planner.moc"

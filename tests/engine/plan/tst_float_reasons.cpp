// SPDX-License-Identifier: Apache-2.0
// Why operators stay float that would be quantized elsewhere, and what counts as eligible.
#include "engine/configure/backend/fusion_entries.h"
#include "engine/plan/match/fusion_gap.h"
#include "engine/plan/planner.h"
#include "engine/plan/remedy.h"
#include "tests/engine/plan/decided_nodes.h"
#include "tests/engine/plan/graph_maker.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

Plan planOf(const Graph& graph)
{
    auto plan = makePlan(graph, defaultRecipe(), *findBackend("x86"));
    if (!plan)
        qFatal("%s", plan.error().line().c_str());
    return *plan;
}

/// Makes operators that torch.nn.MultiheadAttention calls itself.
auto stepsOfAttention(GraphMaker& m)
{
    return
        [&m](const std::string& name, const std::string& target, std::vector<NamedArgument> args) {
            return m.op(name, target, std::move(args), "attn", "torch.nn.MultiheadAttention",
                        "function.multi_head_attention_forward");
        };
}

} // namespace

class TestFloatReasons : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aNormBesideAnotherReaderIsNamedItself()
    {
        GraphMaker m; // no fusion reaches the norm, so its reason speaks of no convolution
        const auto c = m.conv("c", m.input("x"));
        const auto norm = m.batchNorm("n", c);
        const Graph g = m.finish({m.plus("sum", norm, c)});
        Plan plan = planOf(g);
        QVERIFY(nodeOf(plan, g, "n").quantized); // x86 has BatchNorm2d
        auto backend = *findBackend("x86");
        std::erase_if(backend.patterns, [](const BackendPattern& entry) {
            return entry.pattern == std::vector<std::string> {"torch.nn.BatchNorm2d"};
        });
        plan = *makePlan(g, defaultRecipe(), backend);
        QVERIFY2(reasonOf(plan, g, "n").endsWith("has no pattern torch.nn.BatchNorm2d"),
                 qPrintable(reasonOf(plan, g, "n")));
        QVERIFY(nodeOf(plan, g, "n").remedy.text.find("blocked: 2 users") != std::string::npos);
        QVERIFY(fusionGap(g, plan, g.tryFind("n")->id).empty()); // no fusion would help
    }
    /// Remedies other than a qconfig: a rule that keeps the node float, an edit.
    void whatIsKeptFloatOrFolded()
    {
        GraphMaker m;
        const auto tanh = m.op("t", "aten.tanh.default", {{"self", m.input("x")}}, {}, {},
                               "builtin_function_or_method.tanh");
        const auto sum = m.op("s", "aten.add.Tensor", {{"self", tanh}, {"other", 1.0}}, {}, {},
                              "builtin_function_or_method.add");
        const auto weight = m.op("w", "aten.mul.Tensor",
                                 {{"self", m.parameter("g")}, {"other", m.parameter("v")}},
                                 "l.parametrizations.weight.0", "my.Scaled");
        const Graph g
            = m.finish({m.op("l", "aten.linear.default", {{"input", sum}, {"weight", weight}}, "l",
                             "torch.nn.utils.parametrize.ParametrizedLinear")});
        const Plan plan = planOf(g);
        QCOMPARE(plan.findings.size(), std::size_t(1));
        QCOMPARE(plan.findings[0].node, g.tryFind("s")->id);
        QVERIFY(nodeOf(plan, g, "s").quantized && nodeOf(plan, g, "s").remedy.keepFloat);
        const Recipe apart = applyRemedy(defaultRecipe(), g, plan, g.tryFind("s")->id);
        const Plan after = *makePlan(g, apart, *findBackend("x86"));
        QVERIFY(after.findings.empty() && !nodeOf(after, g, "s").quantized);

        QVERIFY(nodeOf(plan, g, "l").quantized && nodeOf(plan, g, "l").note.size() > 0);
        QCOMPARE(nodeOf(plan, g, "l").pattern, std::vector<std::string> {"torch.nn.Linear"});
        QVERIFY(std::none_of(plan.observers.begin(), plan.observers.end(),
                             [](const PlannedObserver& observer) { return observer.isWeight; }));
        const Recipe folded = applyRemedy(defaultRecipe(), g, plan, g.tryFind("l")->id);
        QCOMPARE(folded.edits.size(), std::size_t(1));
        QVERIFY(folded.edits[0].kind == EditKind::Fold && folded.edits[0].within == "l");
    }
    /// A fusion or its partner entry lacks: adding them quantizes the operators.
    void whatABackendWouldHaveToFuse()
    {
        const std::vector<std::string> chain {"torch.nn.Conv2d", "torch.nn.BatchNorm2d",
                                              "torch.nn.ReLU"};
        GraphMaker m;
        const Graph g
            = m.finish({m.relu("r", m.batchNorm("n", m.conv("c", m.linear("l", m.input("x")))))});
        Backend backend = *findBackend("x86");
        std::erase_if(backend.patterns, [](const BackendPattern& entry) {
            return entry.pattern[0].find("Linear") == std::string::npos;
        });
        const Backend fusionAlone = [backend] {
            Backend out = *withFusion(backend, {"torch.nn.Conv2d", "torch.nn.ReLU"});
            out.patterns.pop_back();
            out.patterns.back().pattern
                = {"torch.nn.Conv2d", "torch.nn.BatchNorm2d", "torch.nn.ReLU"};
            return out;
        }();
        for (const Backend& lacking : {backend, fusionAlone}) {
            const Plan plan = *makePlan(g, defaultRecipe(), lacking);
            for (const char* name : {"c", "n", "r"}) {
                QVERIFY(!nodeOf(plan, g, name).quantized);
                QCOMPARE(fusionGap(g, plan, g.tryFind(name)->id), chain);
            }
            QVERIFY(nodeOf(plan, g, "l").quantized);
            QVERIFY(fusionGap(g, plan, g.tryFind("l")->id).empty());
            const Plan after = *makePlan(g, defaultRecipe(), *withFusion(lacking, chain));
            for (const char* name : {"c", "n", "r"})
                QVERIFY2(nodeOf(after, g, name).quantized,
                         nodeOf(after, g, name).reason.text().c_str());
        }
    }
    void layersWithinAttentionCount()
    {
        GraphMaker m;
        const auto step = stepsOfAttention(m);
        const auto in = step("in", "aten.linear.default",
                             {{"input", m.input("x")}, {"weight", m.parameter("in_w")}});
        const auto scores = step("scores", "aten.mul.Tensor", {{"self", in}, {"other", in}});
        const auto out = step("out", "aten.linear.default",
                              {{"input", scores}, {"weight", m.parameter("out_w")}});
        const Graph g = m.finish({m.linear("last", out)});
        const Plan plan = planOf(g);
        for (const char* name : {"in", "out"}) {
            QVERIFY(!nodeOf(plan, g, name).quantized && nodeOf(plan, g, name).eligible);
            const QString reason = reasonOf(plan, g, name);
            QVERIFY2(reason.contains("step inside torch.nn.MultiheadAttention")
                         && reason.contains("'x86' has no pattern"),
                     qPrintable(reason));
            QVERIFY(nodeOf(plan, g, name).remedy.text.find("\"custom_modules\"")
                    != std::string::npos);
        }
        QVERIFY(!nodeOf(plan, g, "scores").eligible); // no layer
        QCOMPARE(plan.eligibleOps, 3);
        QCOMPARE(plan.quantizedOps, 1);
    }
    /// Core ATen multiplies by the weight's transpose, or by copies of it for each of a batch.
    void projectionsCountInEverySpelling()
    {
        GraphMaker m;
        const auto step = stepsOfAttention(m);
        const auto turned = [&](const std::string& name) {
            return step(name + "_t", "aten.permute.default", {{"self", m.parameter(name)}});
        };
        const auto spread = step("spread", "aten.expand.default", {{"self", turned("in_w")}});
        const auto in = step("in", "aten.bmm.default", {{"self", m.input("x")}, {"mat2", spread}});
        const auto scores = step("scores", "aten.bmm.default", {{"self", in}, {"mat2", in}});
        const auto out
            = step("out", "aten.addmm.default",
                   {{"self", m.parameter("out_b")}, {"mat1", scores}, {"mat2", turned("out_w")}});
        const Graph g = m.finish({out});
        const Plan plan = planOf(g);
        QVERIFY(nodeOf(plan, g, "in").eligible && nodeOf(plan, g, "out").eligible);
        QCOMPARE(plan.eligibleOps, 2);
        QCOMPARE(plan.quantizedOps, 0);
    }
    void stepsOfWhatHasAPatternDoNotCount()
    {
        GraphMaker m;
        const auto x = m.linear("l", m.input("x"));
        const auto step = m.op("step", "aten.add.Tensor", {{"self", x}, {"other", x}}, "act",
                               "torch.nn.Hardswish", "method_descriptor.add");
        const Graph g = m.finish({step});
        const Plan plan = planOf(g);
        QVERIFY(!nodeOf(plan, g, "step").eligible);
        QVERIFY(reasonOf(plan, g, "step").contains("quantized as a whole or not"));
    }
    void whatOnlyDecidesABranchStaysFloat()
    {
        for (const bool alsoAdded : {false, true}) {
            GraphMaker m;
            const auto first = m.linear("first", m.input("x"));
            const auto score = m.linear("score", first);
            const auto test = m.op("gt", "aten.gt.Scalar", {{"self", score}, {"other", 0.0}});
            const auto chosen = m.op("cond", "higher_order.cond", {{"pred", test}, {"x", first}});
            const Graph g
                = m.finish({m.linear("last", alsoAdded ? m.plus("sum", chosen, score) : chosen)});
            const Plan plan = planOf(g);
            QVERIFY(nodeOf(plan, g, "first").quantized && nodeOf(plan, g, "last").quantized);
            QCOMPARE(nodeOf(plan, g, "score").quantized, alsoAdded);
            if (!alsoAdded)
                QCOMPARE(reasonOf(plan, g, "score"),
                         QString("its result only decides which way 'cond' goes"));
            bool observed = false;
            for (const PlannedObserver& observer : plan.observers)
                for (const ObservedEdge& edge : observer.edges)
                    observed = observed || edge.value.node == g.tryFind("score")->id;
            QCOMPARE(observed, alsoAdded);
        }
    }
};

QTEST_GUILESS_MAIN(TestFloatReasons)
#include "tst_float_reasons.moc"

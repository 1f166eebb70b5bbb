// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/model_warnings.h"
#include "engine/plan/planner.h"
#include "tests/engine/plan/graph_maker.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

std::vector<std::string> warningsOf(const Graph& graph)
{
    std::vector<std::string> warnings;
    warnOfModel(graph, warnings);
    return warnings;
}

ValueRef dropout(GraphMaker& m, const std::string& path, ValueRef x, bool train)
{
    return m.op(path, "aten.dropout.default", {{"input", x}, {"p", 0.5}, {"train", train}}, path,
                "torch.nn.Dropout");
}

ValueRef norm(GraphMaker& m, const std::string& target, const std::string& path, ValueRef x,
              bool training, bool statistics)
{
    const Argument mean = statistics ? Argument(m.parameter(path + "_m")) : Argument();
    return m.op(path, target, {{"input", x}, {"running_mean", mean}, {"training", training}}, path,
                "torch.nn.BatchNorm2d");
}

} // namespace

class TestModelWarnings : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void anEvaluatedModelIsQuiet()
    {
        GraphMaker m;
        ValueRef x = m.conv("conv", m.input("x"));
        x = dropout(m, "drop", x, false);
        x = norm(m, "aten.batch_norm.default", "bn", x, false, true);
        // Never had running statistics: the batch's own are meant.
        x = norm(m, "aten.batch_norm.default", "stateless", x, true, false);
        QVERIFY(warningsOf(m.finish({x})).empty());
    }
    void layersOfARegionAreNamed()
    {
        GraphMaker m;
        const std::string region = "WrapWithSetGradEnabled.wrap_with_set_grad_enabled";
        const ValueRef own = m.parameter("gain");
        ValueRef x = m.conv("conv", m.input("x"));
        for (const char* layer : {"body.0", "body.1"})
            x = m.op(layer, "aten.convolution.default",
                     {{"input", x},
                      {"weight", m.parameter(std::string(layer) + ".weight")},
                      {"bias", m.parameter(std::string(layer) + ".bias")}},
                     "", "Model", region);
        x = m.op("mul", "aten.mul.Tensor", {{"self", x}, {"other", own}}, "", "Model", region);
        const auto warnings = warningsOf(m.finish({x}));
        QCOMPARE(warnings.size(), std::size_t(1));
        QVERIFY2(warnings[0].find("'body.0', 'body.1' are planned as functions")
                     != std::string::npos,
                 warnings[0].c_str());
    }
    void everyLeftoverIsNamed()
    {
        GraphMaker m;
        ValueRef x = dropout(m, "layer.drop", m.input("x"), true);
        x = norm(m, "aten.batch_norm.default", "bn1", x, true, true);
        x = norm(m, "aten._native_batch_norm_legit_functional.default", "bn2", x, true, true);
        x = m.op("lstm", "aten.lstm.input", {{"input", x}, {"train", true}}, "rnn",
                 "torch.nn.LSTM");
        const auto warnings = warningsOf(m.finish({x}));
        QCOMPARE(warnings.size(), std::size_t(1));
        QCOMPARE(warnings[0],
                 std::string(
                     "the model is in training mode: 'layer.drop' drops values at random; 'rnn' "
                     "drops values between its layers; 'bn1', 'bn2' normalizes with the statistics "
                     "of the batch; call model.eval() before exporting it"));
    }
    void manyAreCounted()
    {
        GraphMaker m;
        ValueRef x = m.input("x");
        for (int i = 0; i < 8; ++i)
            x = dropout(m, "drop" + std::to_string(i), x, true);
        const auto warnings = warningsOf(m.finish({x}));
        QVERIFY2(warnings.at(0).find("'drop4' and 3 more drops") != std::string::npos,
                 warnings[0].c_str());
    }
    void bodiesOfSubgraphsCount()
    {
        GraphMaker inner;
        const ValueRef inside
            = inner.op("drop", "aten.dropout.default",
                       {{"input", inner.input("a")}, {"p", 0.1}, {"train", true}});
        const Graph body = inner.finish({inside});
        GraphMaker m;
        const ValueRef x = m.op("cond", "higher_order.cond", {{"", m.input("x")}}, "head", "Head");
        m.edit.change(x.node).subgraphs = {std::make_shared<const Graph>(body)};
        const auto warnings = warningsOf(m.finish({x}));
        QVERIFY2(warnings.size() == 1 && warnings[0].find("'head' drops") != std::string::npos,
                 warnings.empty() ? "" : warnings[0].c_str());
    }
    void sixteenBitModelsAreToldToComeInFloat()
    {
        GraphMaker m;
        const Graph g = m.finish({m.conv("c", m.input("x", DType::Float16))});
        const auto plan = makePlan(g, defaultRecipe(), *findBackend("x86"));
        QVERIFY(plan);
        const NodePlan& conv = *plan->tryGet(g, g.tryFind("c")->id);
        QVERIFY(!conv.quantized);
        QCOMPARE(conv.verdict, Verdict::FloatByBackend);
        QCOMPARE(conv.reason.text(),
                 std::string("its input 'x' is float16, only float32 is quantized"));
        QVERIFY(conv.remedy.text.find("model.float()") != std::string::npos);
    }
    void aQuantizedModelIsTold()
    {
        GraphMaker m;
        const ValueRef q = m.op("q", "quantized_decomposed.quantize_per_tensor.default",
                                {{"input", m.input("x")}, {"scale", 0.1}, {"zero_point", 3}});
        const ValueRef d
            = m.op("d", "quantized_decomposed.dequantize_per_tensor.default", {{"input", q}});
        const auto warnings = warningsOf(m.finish({d}));
        QCOMPARE(warnings.size(), std::size_t(1));
        QVERIFY2(QByteArray::fromStdString(warnings[0])
                     .startsWith("the model is already quantized: 2 quantizing, "
                                 "dequantizing or integer operators"),
                 warnings[0].c_str());
    }
    void oneLineForAllFusedAlike()
    {
        GraphMaker m;
        ValueRef x = m.input("x");
        for (const char* number : {"1", "2", "3", "4", "5", "6", "7"})
            x = m.relu(std::string("r") + number, m.conv(std::string("c") + number, x));
        const Graph graph = m.finish({x});
        Recipe recipe = defaultRecipe();
        Rule off;
        off.kind = RuleKind::ObjectType;
        off.key = "torch.nn.ReLU";
        recipe.mapping.rules.push_back(off);
        const auto plan = makePlan(graph, recipe, *findBackend("x86"));
        QVERIFY(plan);
        QCOMPARE(plan->conflicts.size(), std::size_t(7));
        QCOMPARE(plan->warnings.size(), std::size_t(1));
        QVERIFY2(plan->warnings[0].find("'r5' and 2 more are fused into 'c1', 'c2'")
                     != std::string::npos,
                 plan->warnings[0].c_str());
    }
    void whatNamesLayersAloneIsNoConflict()
    {
        GraphMaker m;
        const Graph graph = m.finish({m.relu("r", m.conv("c", m.input("x")))});
        Recipe recipe = defaultRecipe();
        Rule layers = recipe.mapping.rules.front();
        layers.kind = RuleKind::ObjectType;
        layers.key = "torch.nn.Conv2d";
        Rule others;
        others.kind = RuleKind::Global;
        recipe.mapping.rules = {others, layers};
        const auto plan = makePlan(graph, recipe, *findBackend("x86"));
        QVERIFY(plan);
        QVERIFY(plan->groups.at(0).fused && plan->groups.at(0).quantized);
        QVERIFY(plan->conflicts.empty());
        // torch.ao raises a LookupError here: the ReLU has no rule by object type.
        QCOMPARE(plan->warnings.size(), std::size_t(1));
        QVERIFY2(plan->warnings[0].find("torch.nn.ReLU") != std::string::npos
                     || plan->warnings[0].find("'r'") != std::string::npos,
                 plan->warnings[0].c_str());
    }
    void oneLineForAllDroppedAlike()
    {
        GraphMaker m;
        ValueRef x = m.input("x", DType::Int64);
        std::vector<ValueRef> tables;
        for (const char* name : {"a", "b"})
            tables.push_back(
                m.op(name, "aten.embedding.default",
                     {{"weight", m.parameter(name + std::string("_w"))}, {"indices", x}}, name,
                     "torch.nn.Embedding", "function.embedding"));
        const Graph graph = m.finish(tables);
        Recipe recipe = defaultRecipe();
        auto plan = makePlan(graph, recipe, *findBackend("x86"));
        QVERIFY(plan && plan->warnings.empty()); // a qconfig for everything is not meant for them
        Rule named = recipe.mapping.rules.front();
        named.kind = RuleKind::ObjectType;
        named.fromBackend = false;
        named.key = "torch.nn.Embedding";
        recipe.mapping.rules.push_back(named);
        plan = makePlan(graph, recipe, *findBackend("x86"));
        QVERIFY(plan);
        QCOMPARE(plan->warnings.size(), std::size_t(1));
        QVERIFY2(plan->warnings[0].starts_with(
                     "'a', 'b' stay float: backend x86 has no pattern for Embedding"),
                 plan->warnings[0].c_str());
    }
};

QTEST_GUILESS_MAIN(TestModelWarnings)
#include "tst_model_warnings.moc"

// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/prepare/prepare.h"
#include "tests/support/oracle_file.h"
#include "tests/support/tiny_graph.h"

#include <QtTest/QtTest>

using namespace qs;
using namespace qs::test;

namespace {

std::string targetOf(const std::string& kind)
{
    return "aten." + kind
        + (kind.ends_with("transpose2d") || kind.ends_with("transpose3d") ? ".input" : ".default");
}

Argument optional(TinyGraph& graph, const std::string& path, const at::Tensor& tensor)
{
    return tensor.defined() ? Argument(graph.parameter(path, tensor)) : Argument();
}

/// input -> conv or linear -> batch norm -> relu, in the training spelling or in core ATen's.
struct Folding
{
    GraphPtr graph;
    NodeId conv {}, batchNorm {}, relu {};

    Folding(const at::IValue& c, bool core)
    {
        const std::string kind = entry(c, "kind").toStringRef();
        const at::Tensor w = tensorEntry(c, "w"), b = tensorEntry(c, "b");
        TinyGraph g;
        const std::int64_t in = kind.starts_with("conv_transpose") ? w.size(0) : w.size(1);
        std::vector<std::int64_t> shape(std::size_t(w.dim()), 5);
        shape[0] = 2;
        shape[1] = in;
        const ValueRef x = g.input("x", shape);
        const Argument weight = g.parameter("conv.weight", w), bias = optional(g, "conv.bias", b);
        const Argument gamma = optional(g, "bn.weight", tensorEntry(c, "bw"));
        const Argument beta = optional(g, "bn.bias", tensorEntry(c, "bb"));
        const Argument mean = g.parameter("bn.running_mean", tensorEntry(c, "rm"));
        const Argument variance = g.parameter("bn.running_var", tensorEntry(c, "rv"));
        ValueRef y;
        if (core && kind == "linear") {
            const ValueRef t
                = g.op("aten.permute.default", {{"self", weight}, {"dims", ints({1, 0})}},
                       {w.size(1), w.size(0)});
            y = b.defined()
                ? g.op("aten.addmm.default", {{"self", bias}, {"mat1", x}, {"mat2", t}}, shape)
                : g.op("aten.mm.default", {{"self", x}, {"mat2", t}}, shape);
        } else if (core) {
            const auto dims = std::size_t(w.dim() - 2);
            y = g.op("aten.convolution.default",
                     {{"input", x},
                      {"weight", weight},
                      {"bias", bias},
                      {"stride", ints(std::vector<std::int64_t>(dims, 1))},
                      {"padding", ints(std::vector<std::int64_t>(dims, 0))},
                      {"dilation", ints(std::vector<std::int64_t>(dims, 1))},
                      {"transposed", kind.starts_with("conv_transpose")},
                      {"output_padding", ints(std::vector<std::int64_t>(dims, 0))},
                      {"groups", 1}},
                     shape);
        } else {
            std::vector<NamedArgument> args {{"input", x}, {"weight", weight}};
            if (b.defined())
                args.push_back({"bias", bias});
            y = g.op(targetOf(kind), args, shape);
        }
        conv = y.node;
        std::vector<NamedArgument> args {{"input", y},
                                         {"weight", gamma},
                                         {"bias", beta},
                                         {"running_mean", mean},
                                         {"running_var", variance}};
        if (!core)
            args.push_back({"training", false});
        args.push_back({"momentum", 0.1});
        args.push_back({"eps", 1e-5});
        if (!core)
            args.push_back({"cudnn_enabled", true});
        const std::string target = core ? "aten._native_batch_norm_legit_no_training.default"
                                        : "aten.batch_norm.default";
        const ValueRef n = g.op(target, args, shape, core ? 3 : 1);
        batchNorm = n.node;
        const ValueRef r = g.op("aten.relu.default", {{"self", n}}, shape);
        relu = r.node;
        graph = g.finish({r});
    }

    PlanPtr plan(bool observed) const
    {
        auto plan = std::make_shared<Plan>();
        plan->nodes.resize(graph->nodes().size());
        MatchGroup group;
        group.members = {conv, batchNorm, relu};
        group.root = conv;
        group.fused = group.quantized = true;
        plan->groups.push_back(group);
        if (observed) {
            PlannedObserver in, weight, out;
            in.id = ObserverId(1);
            in.edges.push_back({{graph->inputs()[0]->id, 0}, {}});
            weight.id = ObserverId(2);
            weight.isWeight = true;
            weight.weightOwner = conv;
            out.id = ObserverId(3);
            out.edges.push_back({{relu, 0}, {}});
            plan->observers = {in, weight, out};
        }
        return plan;
    }
};

} // namespace

class TestPrepare : public QObject
{
    Q_OBJECT
    at::IValue m_cases;

private Q_SLOTS:
    void initTestCase()
    {
        QString error;
        m_cases = runOracle(QS_SOURCE_DIR "/tests/engine/prepare/folding_oracle.py", {}, error);
        QVERIFY2(error.isEmpty(), qPrintable(error));
        QVERIFY(m_cases.toListRef().size() > 20);
    }

    /// Folded weights are bit-equal to torch's, in every spelling, and the graph still computes.
    void foldsToTheBit()
    {
        for (const bool core : {false, true})
            for (const at::IValue& c : m_cases.toListRef()) {
                const Folding f(c, core);
                auto prepared = prepareModel(f.graph, f.plan(false));
                QVERIFY2(prepared, prepared ? "" : prepared.error().line().c_str());
                const Graph& g = *(*prepared)->graph;
                QVERIFY(!g.tryGet(f.batchNorm));
                QCOMPARE((*prepared)->valueOf.at({f.batchNorm, 0}), (ValueRef {f.conv, 0}));
                QVERIFY(!(*prepared)->valueOf.contains({f.conv, 0}));
                const Node* weight = g.tryFind("p_conv_weight");
                const Node* bias = g.tryFind("p_conv_bias");
                QVERIFY(weight && bias);
                QCOMPARE(weight->target, std::string("conv.weight"));
                QCOMPARE(bias->target, std::string("conv.bias"));
                QVERIFY(weight->origin);
                QVERIFY(at::equal(*tensorsOf(g)->getTensor(weight->tensor), tensorEntry(c, "fw")));
                QVERIFY(at::equal(*tensorsOf(g)->getTensor(bias->tensor), tensorEntry(c, "fb")));
                QVERIFY(!g.tryFind("p_bn_running_var"));
                compareRuns(f, (*prepared)->graph);
            }
    }

    void compareRuns(const Folding& f, const GraphPtr& folded)
    {
        std::vector<std::int64_t> shape;
        for (const Dim& dim : f.graph->inputs()[0]->outputs[0].type.shape)
            shape.push_back(dim.size);
        const at::Tensor x = at::randn(shape);
        const auto before = Interpreter::create(f.graph)->run({x});
        const auto after = Interpreter::create(folded)->run({x});
        QVERIFY2(before && after, after ? "" : after.error().line().c_str());
        QVERIFY(at::allclose(before->at(0).toTensor(), after->at(0).toTensor(), 1e-3, 1e-3));
    }

    void leavesTheSourceAlone()
    {
        const Folding f(m_cases.toListRef()[0], false);
        const auto weight = f.graph->tryFind("p_conv_weight")->tensor;
        const at::Tensor before = tensorsOf(*f.graph)->getTensor(weight)->clone();
        QVERIFY(prepareModel(f.graph, f.plan(true)));
        QVERIFY(f.graph->tryGet(f.batchNorm));
        QVERIFY(at::equal(*tensorsOf(*f.graph)->getTensor(weight), before));
    }

    void keepsABatchNormWhoseInputIsReadTwice()
    {
        const Folding f(m_cases.toListRef()[0], false);
        GraphEdit edit(*f.graph);
        auto args = edit.get(f.graph->output().id).args;
        args.push_back({"", ValueRef {f.conv, 0}});
        edit.setArgs(f.graph->output().id, args);
        const auto prepared
            = prepareModel(std::make_shared<const Graph>(edit.build()), f.plan(false));
        QVERIFY(prepared);
        QVERIFY((*prepared)->graph->tryGet(f.batchNorm));
    }

    void observesValuesAndWeights()
    {
        const Folding f(m_cases.toListRef()[0], false);
        const auto prepared = prepareModel(f.graph, f.plan(true));
        QVERIFY2(prepared, prepared ? "" : prepared.error().line().c_str());
        const Graph& g = *(*prepared)->graph;
        std::vector<const Node*> observers;
        for (const auto& node : g.nodes())
            if (node->isOp(kObserveTarget))
                observers.push_back(node.get());
        QCOMPARE(observers.size(), std::size_t(2));
        QCOMPARE(observers[0]->observer, ObserverId(1));
        QCOMPARE(observers[1]->observer, ObserverId(3));
        QCOMPARE(observers[1]->origin, f.relu);
        // All readers read the observer, the model's output too.
        QCOMPARE(g.users({f.relu, 0}).size(), std::size_t(1));
        QCOMPARE(*g.output().args[0].value.asRef(), (ValueRef {observers[1]->id, 0}));
        QCOMPARE(g.get((*prepared)->observedWeight.at(ObserverId(2)).node).name,
                 std::string("p_conv_weight"));
    }

    /// A reader with another qconfig reads through a second observer, after the value's.
    void observesForOneReaderOnly()
    {
        TinyGraph t;
        const ValueRef x = t.input("x", {2, 3});
        const ValueRef a = t.op("aten.relu.default", {{"self", x}}, {2, 3});
        const ValueRef b = t.op("aten.neg.default", {{"self", x}}, {2, 3});
        const GraphPtr graph = t.finish({a, b});
        auto plan = std::make_shared<Plan>();
        PlannedObserver own, shared;
        own.id = ObserverId(1);
        own.edges.push_back({x, {Use {b.node, 0}}});
        shared.id = ObserverId(2);
        shared.edges.push_back({x, {}});
        shared.edges.push_back({a, {}});
        plan->observers = {own, shared};
        const auto prepared = prepareModel(graph, plan);
        QVERIFY2(prepared, prepared ? "" : prepared.error().line().c_str());
        const Graph& g = *(*prepared)->graph;
        const Node& ofB = g.get(g.get(b.node).args[0].value.asRef()->node);
        const Node& ofA = g.get(g.get(a.node).args[0].value.asRef()->node);
        QCOMPARE(ofB.observer, ObserverId(1));
        QCOMPARE(ofA.observer, ObserverId(2));
        QCOMPARE(ofB.args[0].value.asRef()->node, ofA.id);
        QCOMPARE(g.users(x).size(), std::size_t(1));
    }
};

QTEST_GUILESS_MAIN(TestPrepare)
#include "tst_prepare.moc"

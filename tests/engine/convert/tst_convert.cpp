// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/engine_ops.h"
#include "tests/engine/convert/convert_case.h"

#include <QtTest/QtTest>

using namespace qs;
using namespace qs::test;

namespace {

/// conv -> relu -> pool -> flatten -> linear.
struct SmallNet : Case
{
    at::Tensor x = at::randn({4, 3, 8, 8});
    ValueRef conv, relu, pool, flat, linear;

    SmallNet()
    {
        const at::Tensor w = at::randn({8, 3, 3, 3}) * 0.2, b = at::randn({8}) * 0.1;
        const at::Tensor lw = at::randn({5, 8}) * 0.3, lb = at::randn({5}) * 0.1;
        const ValueRef in = tiny.input("x", {4, 3, 8, 8});
        const ValueRef cw = tiny.parameter("conv.weight", w), cb = tiny.parameter("conv.bias", b);
        const ValueRef fw = tiny.parameter("fc.weight", lw), fb = tiny.parameter("fc.bias", lb);
        conv = tiny.op("aten.conv2d.default",
                       {{"input", in},
                        {"weight", cw},
                        {"bias", cb},
                        {"stride", ints({1, 1})},
                        {"padding", ints({1, 1})}},
                       {4, 8, 8, 8});
        relu = tiny.op("aten.relu.default", {{"self", conv}}, {4, 8, 8, 8});
        pool = tiny.op("aten.adaptive_avg_pool2d.default",
                       {{"self", relu}, {"output_size", ints({1, 1})}}, {4, 8, 1, 1});
        flat = tiny.op("aten.flatten.using_ints", {{"self", pool}, {"start_dim", 1}}, {4, 8});
        linear = tiny.op("aten.linear.default", {{"input", flat}, {"weight", fw}, {"bias", fb}},
                         {4, 5});
        graph = tiny.finish({linear});
        observe({in}, -4, 4);
        observe({relu, pool, flat}, 0, 2.5f);
        observe({linear}, -1.5f, 1.5f);
        weight(conv.node, w, 0);
        weight(linear.node, lw, -1);
        group({conv.node, relu.node});
        group({pool.node});
        group({flat.node});
        group({linear.node});
    }
};

} // namespace

class TestConvert : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { at::manual_seed(11); }

    /// Requirements 0.3 and 1.1: every pair explicit in the reference form, one in and one out
    /// lowered.
    void countsPairsPerMode()
    {
        SmallNet net;
        const auto made = net.convert(net.x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        const Graph& reference = *(*made)->reference;
        QCOMPARE(count(reference, "quantized_decomposed.quantize_per_tensor.default"), 5 + 1);
        QCOMPARE(count(reference, "quantized_decomposed.dequantize_per_tensor.default"), 5 + 1);
        QCOMPARE(count(reference, "quantized_decomposed.quantize_per_channel.default"), 1);
        QCOMPARE(count(reference, "quantized_decomposed.dequantize_per_channel.default"), 1);
        QCOMPARE(count(reference, std::string(kObserveTarget)), 0);

        const Graph& lowered = *(*made)->lowered;
        QCOMPARE(count(lowered, "aten.quantize_per_tensor.default"), 1 + 1); // the input, a weight
        QCOMPARE(count(lowered, "aten.quantize_per_channel.default"), 1);
        QCOMPARE(count(lowered, "aten.dequantize.self"), 1);
        QCOMPARE(count(lowered, "quantized.conv2d_relu.new"), 1);
        QCOMPARE(count(lowered, "quantized.conv2d_prepack.default"), 1);
        QCOMPARE(count(lowered, "quantized.linear.default"), 1);
        QCOMPARE(count(lowered, "aten.flatten.using_ints"), 1);
        QVERIFY(loweringResidue(**made).empty());
    }

    void trustsKernelsWithinOneStep()
    {
        SmallNet net;
        const auto made = net.convert(net.x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        QCOMPARE((*made)->checks.size(), std::size_t(4));
        for (const KernelCheck& check : (*made)->checks) {
            QVERIFY2(check.passed, check.reason.c_str());
            QVERIFY(check.steps.largest <= 1);
        }
        QCOMPARE((*made)->checks[0].node, net.relu.node);
        QCOMPARE((*made)->checks[0].kernel, std::string("quantized.conv2d_relu.new"));
        const at::Tensor wanted = runOn((*made)->reference, net.x);
        QVERIFY(sqnr(wanted, runOn((*made)->lowered, net.x)) > 35);
        QVERIFY(sqnr(runOn(net.graph, net.x), wanted) > 20);
    }

    /// The reference form is what torch's own quantize and dequantize make of the float operators.
    void referenceEqualsHandWrittenQdq()
    {
        SmallNet net;
        const auto made = net.convert(net.x);
        QVERIFY(made);
        const auto qdq = [&](const at::Tensor& t, std::uint32_t id) {
            const QParams& q = net.qparams.at(ObserverId(id));
            return at::quantize_per_tensor(t, q.scale[0], q.zeroPoint[0], at::kQUInt8).dequantize();
        };
        const auto& store = *tensorsOf(*net.graph);
        const auto stored
            = [&](const char* name) { return *store.getTensor(net.graph->tryFind(name)->tensor); };
        const QParams& cq = net.qparams.at(ObserverId(4));
        const at::Tensor cw
            = at::quantize_per_channel(stored("p_conv_weight"), at::tensor(cq.scale),
                                       at::tensor(cq.zeroPoint), 0, at::kQInt8)
                  .dequantize();
        const at::Tensor lw
            = at::quantize_per_tensor(stored("p_fc_weight"), net.qparams.at(ObserverId(5)).scale[0],
                                      0, at::kQInt8)
                  .dequantize();
        at::Tensor y = at::conv2d(qdq(net.x, 1), cw, stored("p_conv_bias"), {1, 1}, {1, 1});
        y = qdq(at::flatten(qdq(at::adaptive_avg_pool2d(qdq(at::relu(y), 2), {1, 1}), 2), 1), 2);
        y = qdq(at::linear(y, lw, stored("p_fc_bias")), 3);
        QVERIFY(at::equal(runOn((*made)->reference, net.x), y));
    }

    void remembersWhereFloatValuesLive()
    {
        SmallNet net;
        const auto made = net.convert(net.x);
        QVERIFY(made);
        const ConvertedModel& model = **made;
        const ValueRef raw = model.rawValueOf.at(net.relu);
        const ValueRef seen = model.referenceValueOf.at(net.relu);
        QCOMPARE(raw, net.relu);
        QVERIFY(raw != seen);
        const Node& dequantize = model.reference->get(seen.node);
        QVERIFY(dequantize.isOp("quantized_decomposed.dequantize_per_tensor.default"));
        QCOMPARE(dequantize.origin, net.relu.node);
        QCOMPARE(model.referenceValueOf.at(net.conv), net.conv); // not observed
        QCOMPARE(*model.reference->output().args[0].value.asRef(),
                 model.referenceValueOf.at(net.linear));
    }

    /// Requirement 0.2: without its row the linear keeps explicit pairs, the rest is lowered.
    void removedRowLeavesResidue()
    {
        SmallNet net;
        net.recipe.loweringRemove.push_back({{"torch.nn.Linear"}, ""});
        const auto made = net.convert(net.x);
        QVERIFY(made);
        const Graph& lowered = *(*made)->lowered;
        QCOMPARE(count(lowered, "quantized.conv2d_relu.new"), 1);
        QCOMPARE(count(lowered, "aten.linear.default"), 1);
        QVERIFY(lowered.get(lowered.tryGet(net.linear.node)->args[0].value.asRef()->node)
                    .isOp("aten.dequantize.self"));
        const auto residue = loweringResidue(**made);
        QCOMPARE(residue.size(), std::size_t(2));
        QCOMPARE(residue[0].kind, Residue::Kind::Unlowered);
        QCOMPARE(residue[0].node, net.linear.node);
        QVERIFY(residue[0].reason.find("no row") != std::string::npos);
        QCOMPARE(residue[1].kind, Residue::Kind::DeadPair);
        QVERIFY(sqnr(runOn((*made)->reference, net.x), runOn(loweredPtr(*made), net.x)) > 35);
    }

    /// Requirement 0.7: the other reasons, each on the operator it holds for.
    void residueNamesItsReasons()
    {
        SmallNet net;
        const auto reasonOf = [](const ConvertedModel& model, NodeId node) {
            for (const Residue& left : loweringResidue(model))
                if (left.node == node && left.kind == Residue::Kind::Unlowered)
                    return left.reason;
            return std::string();
        };
        // The input of the convolution is not observed.
        net.plan->observers[0].spec.kind = ObserverKind::Placeholder;
        net.plan->observers[0].spec.dtype = DType::Float32;
        net.qparams.erase(ObserverId(1));
        const auto blind = net.convert(net.x);
        QVERIFY2(blind, blind ? "" : blind.error().line().c_str());
        QVERIFY(reasonOf(**blind, net.relu.node).find("input is not dequantized")
                != std::string::npos);

        // A rule keeps the linear float between quantized values.
        SmallNet kept;
        kept.plan->nodes.resize(kept.graph->nodes().size());
        NodePlan& plan = kept.plan->nodes[kept.graph->position(kept.linear.node)];
        plan.node = kept.linear.node;
        plan.verdict = Verdict::FloatByRule;
        plan.eligible = true;
        kept.plan->groups.pop_back();
        const auto null = kept.convert(kept.x);
        QVERIFY2(null, null ? "" : null.error().line().c_str());
        QVERIFY(reasonOf(**null, kept.linear.node).find("kept float by a rule")
                != std::string::npos);
        QCOMPARE(count(*(*null)->lowered, "quantized.linear.default"), 0);
    }

    /// Nothing without integers is converted: a placeholder's observer vanishes.
    void floatObserversVanish()
    {
        SmallNet net;
        net.qparams.erase(ObserverId(3));
        net.plan->observers[2].spec.kind = ObserverKind::Placeholder;
        net.plan->observers[2].spec.dtype = DType::Float32;
        const auto made = net.convert(net.x);
        QVERIFY(made);
        QCOMPARE(*(*made)->reference->output().args[0].value.asRef(), net.linear);
        const auto residue = loweringResidue(**made);
        QCOMPARE(residue.size(), std::size_t(1));
        QVERIFY(residue[0].reason.find("output is not quantized") != std::string::npos);
    }

    /// A kernel that is wrong stays in reference form, with figure and reason: oneDNN's per-tensor
    /// transposed convolution, which the x86 engine uses too where the processor has VNNI.
    void wrongKernelStaysInReferenceForm()
    {
        Case c;
        c.recipe.backend = "onednn";
        const at::Tensor x = at::randn({2, 16, 6, 6}), w = at::randn({16, 8, 2, 2}) * 0.2;
        const ValueRef in = c.tiny.input("x", {2, 16, 6, 6});
        const ValueRef cw = c.tiny.parameter("up.weight", w);
        const ValueRef up = c.tiny.op(
            "aten.conv_transpose2d.input",
            {{"input", in}, {"weight", cw}, {"bias", Argument()}, {"stride", ints({2, 2})}},
            {2, 8, 12, 12});
        c.graph = c.tiny.finish({up});
        c.observe({in}, -4, 4);
        c.observe({up}, -4, 4);
        c.weight(up.node, w, -1);
        c.group({up.node});
        const auto made = c.convert(x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        QCOMPARE((*made)->checks.size(), std::size_t(1));
        const KernelCheck& check = (*made)->checks[0];
        if (check.passed)
            QSKIP("this machine's engine computes it right");
        QVERIFY(check.steps.largest > 1);
        QVERIFY(check.reason.find("steps away") != std::string::npos);
        QCOMPARE(count(*(*made)->lowered, "aten.conv_transpose2d.input"), 1);
        QVERIFY(at::equal(runOn((*made)->reference, x), runOn((*made)->lowered, x)));
        QCOMPARE(loweringResidue(**made)[0].reason, check.reason);
    }

    /// A kernel that raises (per-channel transposed convolution) stays too.
    void raisingKernelStaysInReferenceForm()
    {
        Case c;
        const at::Tensor x = at::randn({2, 4, 6, 6}), w = at::randn({4, 8, 2, 2}) * 0.2;
        const ValueRef in = c.tiny.input("x", {2, 4, 6, 6});
        const ValueRef cw = c.tiny.parameter("up.weight", w);
        const ValueRef up
            = c.tiny.op("aten.conv_transpose2d.input",
                        {{"input", in}, {"weight", cw}, {"stride", ints({2, 2})}}, {2, 8, 12, 12});
        c.graph = c.tiny.finish({up});
        c.observe({in}, -4, 4);
        c.observe({up}, -4, 4);
        c.weight(up.node, w, 1);
        c.group({up.node});
        const auto made = c.convert(x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        QVERIFY(!(*made)->checks.at(0).passed);
        QVERIFY((*made)->checks[0].reason.find("fails here") != std::string::npos);
        QVERIFY(at::equal(runOn((*made)->reference, x), runOn((*made)->lowered, x)));
    }

    /// Adds, concatenations and shared parameters run on quantized tensors throughout.
    void lowersBinaryAndSharedOperators()
    {
        Case c;
        const at::Tensor x = at::randn({2, 4, 6, 6});
        const ValueRef a = c.tiny.input("a", {2, 4, 6, 6});
        const ValueRef pooled = c.tiny.op("aten.max_pool2d.default",
                                          {{"self", a},
                                           {"kernel_size", ints({3, 3})},
                                           {"stride", ints({1, 1})},
                                           {"padding", ints({1, 1})}},
                                          {2, 4, 6, 6});
        const ValueRef sum
            = c.tiny.op("aten.add.Tensor", {{"self", a}, {"other", pooled}}, {2, 4, 6, 6});
        const ValueRef relu = c.tiny.op("aten.relu.default", {{"self", sum}}, {2, 4, 6, 6});
        const ValueRef product
            = c.tiny.op("aten.mul.Tensor", {{"self", relu}, {"other", a}}, {2, 4, 6, 6});
        const ValueRef gate = c.tiny.op("aten.sigmoid.default", {{"self", product}}, {2, 4, 6, 6});
        const ValueRef joined
            = c.tiny.op("aten.cat.default",
                        {{"tensors", Argument::List {relu, product}}, {"dim", 1}}, {2, 8, 6, 6});
        const ValueRef view
            = c.tiny.op("aten.view.default", {{"self", joined}, {"size", ints({2, -1})}}, {2, 288});
        c.graph = c.tiny.finish({view, gate});
        c.observe({a, pooled}, -4, 4);
        c.observe({relu, product, joined, view}, -8, 8);
        const ObserverId fixed = c.observe({gate}, 0, 1);
        c.qparams[fixed].scale = {1.0f / 256};
        c.qparams[fixed].zeroPoint = {0};
        for (ValueRef v : {pooled, product, gate, joined, view})
            c.group({v.node});
        c.group({sum.node, relu.node});
        const auto made = c.convert(x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        const Graph& lowered = *(*made)->lowered;
        for (const KernelCheck& check : (*made)->checks)
            QVERIFY2(check.passed, check.reason.c_str());
        QCOMPARE(count(lowered, "quantized.add_relu.default"), 1);
        QCOMPARE(count(lowered, "quantized.mul.default"), 1);
        QCOMPARE(count(lowered, "aten.cat.default"), 1);
        QCOMPARE(count(lowered, "aten.reshape.default"), 1);
        QCOMPARE(count(lowered, "aten.sigmoid.default"), 1);
        QCOMPARE(count(lowered, "aten.quantize_per_tensor.default"), 1);
        QCOMPARE(count(lowered, "aten.dequantize.self"), 2);
        QVERIFY(sqnr(runOn((*made)->reference, x), runOn((*made)->lowered, x)) > 30);
    }

    /// A reshape whose sizes are computed is lowered and checked with the sizes of the moment.
    void lowersAReshapeToComputedSizes()
    {
        Case c;
        const at::Tensor x = at::randn({4, 3, 2, 2});
        const ValueRef in = c.tiny.input("x", {4, 3, 2, 2});
        const ValueRef pooled = c.tiny.op(
            "aten.max_pool2d.default", {{"self", in}, {"kernel_size", ints({1, 1})}}, {4, 3, 2, 2});
        const ValueRef batch = c.tiny.op("aten.sym_size.int", {{"self", pooled}, {"dim", 0}}, {});
        c.tiny.makeSize(batch);
        const ValueRef view = c.tiny.op(
            "aten.view.default", {{"self", pooled}, {"size", Argument::List {batch, Argument(-1)}}},
            {4, 12});
        c.graph = c.tiny.finish({view});
        c.observe({in, pooled, view}, -4, 4);
        c.group({pooled.node});
        c.group({view.node});
        const auto made = c.convert(x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        for (const KernelCheck& check : (*made)->checks)
            QVERIFY2(check.passed, check.reason.c_str());
        QCOMPARE((*made)->checks.size(), std::size_t(2));
        const Graph& lowered = *(*made)->lowered;
        QCOMPARE(count(lowered, "aten.reshape.default"), 1);
        // The size is read off the quantized tensor: one dequantize, for the output.
        QCOMPARE(count(lowered, "aten.dequantize.self"), 1);
        QVERIFY(at::equal(runOn((*made)->reference, x), runOn((*made)->lowered, x)));
    }

    /// Core ATen spells a linear as permute and addmm, a convolution as `convolution`.
    void lowersCoreSpellings()
    {
        Case c;
        const at::Tensor x = at::randn({4, 6}), w = at::randn({5, 6}) * 0.3, b = at::randn({5});
        const ValueRef in = c.tiny.input("x", {4, 6});
        const ValueRef pw = c.tiny.parameter("fc.weight", w), pb = c.tiny.parameter("fc.bias", b);
        const ValueRef t
            = c.tiny.op("aten.permute.default", {{"self", pw}, {"dims", ints({1, 0})}}, {6, 5});
        const ValueRef y
            = c.tiny.op("aten.addmm.default", {{"self", pb}, {"mat1", in}, {"mat2", t}}, {4, 5});
        c.graph = c.tiny.finish({y});
        c.observe({in}, -4, 4);
        c.observe({y}, -6, 6);
        c.weight(y.node, w, 0);
        c.group({y.node});
        const auto made = c.convert(x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        QCOMPARE(count(*(*made)->lowered, "quantized.linear.default"), 1);
        QVERIFY2((*made)->checks.at(0).passed, (*made)->checks[0].reason.c_str());
    }

    void refusesAnUnknownKernel()
    {
        SmallNet net;
        net.recipe.loweringAdd.push_back({{"torch.nn.Linear"}, "quantized::no_such_kernel"});
        const auto made = net.convert(net.x);
        QVERIFY(!made);
        QVERIFY(made.error().line().find("no_such_kernel") != std::string::npos);
        const auto refusal = [](const char* pattern, const char* kernel) {
            Recipe recipe;
            recipe.loweringAdd.push_back({{pattern}, kernel});
            const auto checked = checkLoweringKernels(recipe);
            return checked ? std::string() : checked.error().line();
        };
        const std::string near = refusal("torch.nn.Linear", "quantized::lineer");
        QVERIFY2(near.find("did you mean 'quantized::linear'?") != std::string::npos, near.c_str());
        QVERIFY(refusal("torch.nn.TransformerEncoder", "quantized::linear").find("no operator")
                != std::string::npos);
        QCOMPARE(refusal("torch.celu", "quantized::celu"), std::string());
    }

private:
    static GraphPtr loweredPtr(const ConvertedPtr& model) { return model->lowered; }
};

QTEST_GUILESS_MAIN(TestConvert)
#include "tst_convert.moc"

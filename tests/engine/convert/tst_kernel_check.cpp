// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/comparator.h"
#include "engine/convert/lowering/check_lowered.h"
#include "engine/convert/whole_form.h"
#include "tests/engine/convert/convert_case.h"

#include <QtTest/QtTest>

#include <ATen/Context.h>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

Argument same(std::int64_t value)
{
    return ints({value, value});
}

double lossDb(const ConvertedModel& model, const GraphPtr& floatForm, const at::Tensor& x)
{
    const at::Tensor y = runOn(floatForm, x);
    return sqnr(y, runOn(model.reference, x)) - sqnr(y, runOn(model.lowered, x));
}

/// Data of one batch.
class OneBatch : public Dataset
{
public:
    explicit OneBatch(Batch batch)
        : m_batch(std::move(batch))
    {
    }
    std::int64_t batchCount() const override { return 1; }
    Result<Batch> batch(std::int64_t) const override { return m_batch; }
    bool hasLabels() const override { return false; }

private:
    Batch m_batch;
};

ComparisonPtr compared(const ConvertedModel& model, const Batch& batch)
{
    return compareModels(model, OneBatch(batch), "cpu").value();
}

/// relu * 0.17 beside relu: the product's kernel has a finer grid than the other part.
struct ScaledParts : Case
{
    at::Tensor x = at::randn({2, 4, 6, 6});
    ValueRef joined;

    explicit ScaledParts(const char* join)
    {
        const bool stacks = std::string(join) == "aten.stack.default";
        const ValueRef in = tiny.input("x", {2, 4, 6, 6});
        const ValueRef relu = tiny.op("aten.relu.default", {{"self", in}}, {2, 4, 6, 6});
        const ValueRef part
            = tiny.op("aten.mul.Tensor", {{"self", relu}, {"other", 0.17}}, {2, 4, 6, 6});
        joined = tiny.op(join, {{"tensors", Argument::List {part, relu}}, {"dim", 1}},
                         stacks ? std::vector<std::int64_t> {2, 2, 4, 6, 6}
                                : std::vector<std::int64_t> {2, 8, 6, 6});
        graph = tiny.finish({joined});
        observe({in, relu, part, joined}, -4, 4);
        group({relu.node});
        group({part.node});
        group({joined.node});
    }
};

} // namespace

class TestKernelCheck : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { at::manual_seed(11); }

    /// Convolutions hand their result over channels last, which QNNPACK's clamps do not heed.
    void feedsTheLayoutOfTheLoweredGraph()
    {
        const auto& engines = at::globalContext().supportedQEngines();
        if (std::find(engines.begin(), engines.end(), at::QEngine::QNNPACK) == engines.end())
            QSKIP("no QNNPACK here");
        Case c;
        c.recipe.backend = "qnnpack";
        const at::Tensor x = at::randn({2, 3, 8, 8}), w = at::randn({6, 3, 3, 3}) * 0.5;
        const ValueRef in = c.tiny.input("x", {2, 3, 8, 8});
        const ValueRef cw = c.tiny.parameter("conv.weight", w);
        const ValueRef conv = c.tiny.op("aten.conv2d.default",
                                        {{"input", in},
                                         {"weight", cw},
                                         {"bias", Argument()},
                                         {"stride", same(1)},
                                         {"padding", same(1)}},
                                        {2, 6, 8, 8});
        const ValueRef clamp
            = c.tiny.op("aten.hardtanh.default",
                        {{"self", conv}, {"min_val", -1.0}, {"max_val", 1.5}}, {2, 6, 8, 8});
        const ValueRef pool = c.tiny.op("aten.avg_pool2d.default",
                                        {{"self", clamp}, {"kernel_size", same(2)}}, {2, 6, 4, 4});
        c.graph = c.tiny.finish({pool});
        c.observe({in}, -4, 4);
        c.observe({conv, clamp, pool}, -4, 4);
        c.weight(conv.node, w, -1);
        for (ValueRef v : {conv, clamp, pool})
            c.group({v.node});
        const auto made = c.convert(x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        QVERIFY2(lossDb(**made, c.graph, x) < 1,
                 qPrintable(QString::number(lossDb(**made, c.graph, x))));
        QCOMPARE((*made)->checks.size(), std::size_t(3));
        QVERIFY((*made)->checks[0].passed);
        QCOMPARE((*made)->checks[1].kernel, std::string("aten.hardtanh.default"));
        QVERIFY(!(*made)->checks[1].passed);
        QVERIFY((*made)->checks[1].reason.find("steps away") != std::string::npos);
    }

    /// A part whose kernel chose a finer grid must not give its parameters to the whole.
    void joinsPartsOfOtherParameters()
    {
        ScaledParts cat("aten.cat.default");
        const auto made = cat.convert(cat.x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        QVERIFY(lossDb(**made, cat.graph, cat.x) < 1);
        QCOMPARE(count(*(*made)->lowered, "quantized.mul.Scalar"), 1);
        QCOMPARE(count(*(*made)->lowered, "quantized.cat.default"), 1);

        // No kernel joins along a new dimension with other parameters.
        ScaledParts stack("aten.stack.default");
        const auto kept = stack.convert(stack.x);
        QVERIFY2(kept, kept ? "" : kept.error().line().c_str());
        QVERIFY(lossDb(**kept, stack.graph, stack.x) < 1);
        const auto residue = loweringResidue(**kept);
        QVERIFY(!residue.empty() && residue[0].node == stack.joined.node);
        QVERIFY(residue[0].reason.find("chooses its own") != std::string::npos);
    }

    /// A relu among parts that share the first one's parameters keeps those of its input, which the
    /// joining kernel turns into the first one's: no float in between, even where these cut it.
    void keepsTheGridBeforeAJoin()
    {
        for (const char* join : {"aten.cat.default", "aten.stack.default"}) {
            Case c;
            const at::Tensor x = at::randn({2, 4, 6, 6});
            const ValueRef in = c.tiny.input("x", {2, 4, 6, 6});
            const ValueRef elu = c.tiny.op("aten.elu.default", {{"self", in}}, {2, 4, 6, 6});
            const ValueRef relu = c.tiny.op("aten.relu.default", {{"self", in}}, {2, 4, 6, 6});
            const ValueRef joined
                = c.tiny.op(join, {{"tensors", Argument::List {elu, relu}}, {"dim", 1}}, {});
            c.graph = c.tiny.finish({joined});
            c.observe({in}, -4, 4);
            c.observe({elu, relu, joined}, -1, 1.5);
            for (const ValueRef value : {elu, relu, joined})
                c.group({value.node});
            const auto made = c.convert(x);
            QVERIFY2(made, made ? "" : made.error().line().c_str());
            QCOMPARE(count(*(*made)->lowered, "aten.dequantize.self"), 1);
            QCOMPARE(count(*(*made)->lowered, "aten.quantize_per_tensor.default"), 1);
            QCOMPARE((*made)->checks.size(), std::size_t(3));
            QVERIFY(at::equal(runOn((*made)->lowered, x), runOn((*made)->reference, x)));
        }
    }

    /// The same by the check alone: a row that takes torch's cat whatever the parts' parameters.
    void feedsTheParametersOfTheLoweredGraph()
    {
        ScaledParts parts("aten.cat.default");
        const auto made = parts.convert(parts.x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        ConvertedModel model = **made;
        model.checks.clear();
        LoweringOptions options;
        options.rows = *kernelRows({});
        std::erase_if(options.rows,
                      [](const KernelRow& row) { return row.kernel == "quantized::cat"; });
        for (KernelRow& row : options.rows)
            if (row.pattern == std::vector<std::string> {"cat"})
                row.output = KernelOutput::Requantized;
        Batch batch;
        batch.inputs = {parts.x};
        LoweredGraph lowered = *lowerGraph(*model.reference, options);
        const auto checked = checkLowered(model, {&batch}, options, lowered, {});
        QVERIFY2(checked, checked ? "" : checked.error().line().c_str());
        QCOMPARE(model.checks.size(), std::size_t(3));
        QVERIFY(model.checks[1].passed && !model.checks[2].passed);
        QVERIFY(model.checks[2].reason.find("steps away") != std::string::npos);
    }

    /// A kernel that computes something else, among good ones, is found by what it does to the
    /// output.
    void findsTheKernelThatLoses()
    {
        Case c;
        const at::Tensor x = at::randn({2, 4, 6, 6});
        const ValueRef in = c.tiny.input("x", {2, 4, 6, 6});
        std::vector<ValueRef> values {in};
        for (const char* target : {"aten.relu.default", "aten.hardswish.default",
                                   "aten.relu.default", "aten.sigmoid.default"})
            values.push_back(c.tiny.op(target, {{"self", values.back()}}, {2, 4, 6, 6}));
        const ValueRef wrong
            = c.tiny.op("aten.elu.default", {{"self", in}, {"alpha", 0.3}}, {2, 4, 6, 6});
        c.graph = c.tiny.finish({values.back(), wrong});
        c.observe({in}, -4, 4);
        c.observe({values[1]}, 0, 4);
        c.observe({values[2]}, 0, 4);
        c.observe({values[3]}, 0, 4);
        const ObserverId fixed = c.observe({values[4]}, 0, 1);
        c.qparams[fixed].scale = {1.0f / 256};
        c.qparams[fixed].zeroPoint = {0};
        c.observe({wrong}, -1, 4);
        for (std::size_t i = 1; i < values.size(); ++i)
            c.group({values[i].node});
        c.group({wrong.node});
        auto made = c.convert(x);
        QVERIFY2(made, made ? "" : made.error().line().c_str());
        for (const KernelCheck& check : (*made)->checks)
            QVERIFY2(check.passed, check.reason.c_str());

        LoweringOptions options;
        options.rows = *kernelRows({});
        for (KernelRow& row : options.rows)
            if (row.pattern == std::vector<std::string> {"elu"})
                row.kernel = "quantized::hardswish";
        Batch batch;
        batch.inputs = {x};
        LoweredGraph lowered = *lowerGraph(*(*made)->reference, options);
        // The comparison reports what remains of a loss, and nothing for the unchanged model.
        QVERIFY(compared(**made, batch)->losses.empty());
        ConvertedModel loses = **made;
        loses.lowered = lowered.graph;
        const auto losses = compared(loses, batch)->losses;
        QCOMPARE(losses.size(), std::size_t(1));
        QVERIFY2(losses[0].starts_with("output 'elu': the lowered form is at "), losses[0].c_str());

        const std::size_t kernels = lowered.sites.size();
        FormOutputs outputs {*Interpreter::create((*made)->reference)->run({x}),
                             *Interpreter::create(lowered.graph)->run({x})};
        const auto held = holdOutputs(**made, {&batch}, options, lowered, outputs, {});
        QVERIFY2(held, held ? "" : held.error().line().c_str());
        QCOMPARE(options.refused.size(), std::size_t(1));
        const std::string& reason = options.refused.begin()->second;
        QVERIFY2(reason.find("with quantized.hardswish.default output 'elu' is at ")
                     != std::string::npos,
                 reason.c_str());
        QCOMPARE(lowered.sites.size(), kernels - 1);
        QCOMPARE(count(*lowered.graph, "quantized.hardswish.default"), 1);
        QCOMPARE(count(*lowered.graph, "aten.elu.default"), 1);
    }
};

QTEST_GUILESS_MAIN(TestKernelCheck)
#include "tst_kernel_check.moc"

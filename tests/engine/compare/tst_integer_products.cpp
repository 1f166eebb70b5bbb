// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/products/integer_products.h"
#include "engine/execute/tensor_store.h"
#include "tests/support/tensor_compare.h"
#include "tests/support/tiny_graph.h"

#include <QtTest/QtTest>

#include <cmath>
#include <limits>

using namespace qs;
using test::ints;

namespace {

/// One product of a reference graph: x -> quantize -> dequantize -> convolution or linear over a
/// weight of signed bytes.
struct Case
{
    std::vector<std::int64_t> input {4, 64, 24, 24}, weight {64, 64, 3, 3};
    std::vector<std::int64_t> stride {1, 1}, padding {1, 1}, dilation {1, 1};
    std::int64_t groups = 1;
    bool isSigned = false, byChannel = true, hasBias = true;
    std::string target = "aten.conv2d.default";
    std::int64_t weightZeroPoint = 0;
    bool anyWeight = false; ///< a float one in place of signed bytes
    bool turned = false; ///< which lies the other way round in memory
};

struct Built
{
    GraphPtr graph;
    GridProduct product; ///< as it should be found, but for a stored weight
    at::Tensor weight; ///< exact
    at::Tensor bias;
};

constexpr double kScale = 0.03;

std::int64_t zeroPointOf(const Case& wanted)
{
    return wanted.isSigned ? -7 : 121;
}

std::vector<NamedArgument> gridArguments(const Case& wanted, ValueRef input)
{
    return {{"input", input},
            {"scale", kScale},
            {"zero_point", zeroPointOf(wanted)},
            {"quant_min", std::int64_t(wanted.isSigned ? -128 : 0)},
            {"quant_max", std::int64_t(wanted.isSigned ? 127 : 255)},
            {"dtype", wanted.isSigned ? DType::Int8 : DType::UInt8}};
}

at::Tensor columnOf(const at::Tensor& scales, std::size_t rank)
{
    std::vector<std::int64_t> column(rank, 1);
    column[0] = scales.numel();
    return scales.reshape(column);
}

/// The weight's value in the graph; fills `made.weight`.
ValueRef addWeight(test::TinyGraph& g, const Case& wanted, Built& made)
{
    if (wanted.anyWeight) {
        const at::Tensor drawn = at::randn(wanted.weight) * 0.05;
        const at::Tensor weight = wanted.turned ? drawn.t().contiguous().t() : drawn;
        made.weight = weight.to(at::kDouble);
        return g.parameter("w", weight);
    }
    const std::int64_t channels = wanted.weight[0];
    const at::Tensor integers = at::randint(-127, 128, wanted.weight, at::kChar);
    const at::Tensor scales
        = wanted.byChannel ? at::rand({channels}) * 0.01 + 1e-3 : at::full({1}, 0.004f);
    made.weight = (integers - double(wanted.weightZeroPoint)).to(at::kDouble)
        * columnOf(scales.to(at::kDouble), wanted.weight.size());
    std::vector<NamedArgument> args {{"input", g.parameter("q", integers)}};
    if (wanted.byChannel) {
        const at::Tensor zeroPoints = at::full({channels}, wanted.weightZeroPoint);
        args.push_back({"scales", g.parameter("s", scales)});
        args.push_back({"zero_points", g.parameter("z", zeroPoints)});
        args.push_back({"axis", std::int64_t(0)});
    } else {
        args.push_back({"scale", scales.item<double>()});
        args.push_back({"zero_point", wanted.weightZeroPoint});
    }
    args.push_back({"quant_min", std::int64_t(-128)});
    args.push_back({"quant_max", std::int64_t(127)});
    args.push_back({"dtype", DType::Int8});
    return g.op(wanted.byChannel ? "quantized_decomposed.dequantize_per_channel.default"
                                 : "quantized_decomposed.dequantize_per_tensor.default",
                args, wanted.weight);
}

Built build(const Case& wanted)
{
    at::manual_seed(3);
    Built made;
    test::TinyGraph g;
    GridProduct& product = made.product;
    const ValueRef x = g.input("x", wanted.input);
    const ValueRef q = g.op("quantized_decomposed.quantize_per_tensor.default",
                            gridArguments(wanted, x), wanted.input);
    product.input = g.op("quantized_decomposed.dequantize_per_tensor.default",
                         gridArguments(wanted, q), wanted.input);
    product.grid = kernels::makeFakeQuant(kScale, zeroPointOf(wanted), wanted.isSigned ? -128 : 0,
                                          wanted.isSigned ? 127 : 255);
    product.weight = addWeight(g, wanted, made);
    if (wanted.hasBias) {
        made.bias = at::randn({wanted.weight[0]});
        product.bias = g.parameter("b", made.bias);
    }
    if (wanted.weight.size() == 4)
        product.geometry = {wanted.stride, wanted.padding, wanted.dilation, wanted.groups};
    std::vector<NamedArgument> args {{"input", product.input},
                                     {"weight", product.weight},
                                     {"bias", product.bias ? Argument(product.bias) : Argument()}};
    if (product.geometry) {
        args.push_back({"stride", ints(wanted.stride)});
        args.push_back({"padding", ints(wanted.padding)});
        args.push_back({"dilation", ints(wanted.dilation)});
        if (wanted.target == "aten.convolution.default") {
            args.push_back({"transposed", false});
            args.push_back({"output_padding", ints({0, 0})});
        }
        args.push_back({"groups", wanted.groups});
    }
    const ValueRef y = g.op(wanted.target, args, wanted.input);
    product.node = y.node;
    made.graph = g.finish({y});
    return made;
}

/// Values on the grid, channels last.
at::Tensor gridInput(const Case& wanted)
{
    const at::Tensor integers
        = at::randint(wanted.isSigned ? -128 : 0, wanted.isSigned ? 128 : 256, wanted.input);
    const at::Tensor x = (integers - double(zeroPointOf(wanted))).to(at::kFloat) * float(kScale);
    return x.dim() == 4 ? x.contiguous(at::MemoryFormat::ChannelsLast) : x;
}

/// In double.
at::Tensor exactProduct(const Case& wanted, const Built& made, const at::Tensor& input)
{
    const at::Tensor x = input.to(at::kDouble);
    const at::Tensor bias = made.bias.defined() ? made.bias.to(at::kDouble) : at::Tensor();
    return made.product.geometry ? at::conv2d(x, made.weight, bias, wanted.stride, wanted.padding,
                                              wanted.dilation, wanted.groups)
                                 : at::linear(x, made.weight, bias);
}

/// Products and the interpreter that asks them.
struct Runner
{
    Interpreter interpreter;
    IntegerProducts products;
};

Runner runnerOf(const Built& made, const std::vector<GridProduct>& products,
                Layout layout = Layout::ChannelsLast)
{
    auto interpreter = Interpreter::create(made.graph, {.layout = layout});
    if (!interpreter)
        qFatal("%s", interpreter.error().line().c_str());
    return {*interpreter, IntegerProducts(products)};
}

/// What the products make of the node over `x`; undefined where they leave it to the interpreter.
at::Tensor ran(Runner& runner, const Built& made, const at::Tensor& x, Frame frame = {})
{
    frame.set(made.product.input, x);
    if (!runner.products.run(runner.interpreter, made.graph->get(made.product.node), frame))
        return {};
    return frame.get({made.product.node, 0}).toTensor();
}

/// The same for the products that are found in the graph.
at::Tensor ranFound(const Case& wanted, const at::Tensor& x, Layout layout = Layout::ChannelsLast)
{
    const Built made = build(wanted);
    Runner runner = runnerOf(made, quantizedProducts(*made.graph), layout);
    return ran(runner, made, x);
}

Case linear()
{
    Case made;
    made.input = {5, 200, 256};
    made.weight = {192, 256};
    made.target = "aten.linear.default";
    return made;
}

} // namespace

Q_DECLARE_METATYPE(Case)

class TestIntegerProducts : public QObject
{
    Q_OBJECT
private:
    static void row(const char* name, auto change)
    {
        Case wanted;
        change(wanted);
        QTest::newRow(name) << wanted;
    }
    static void rows()
    {
        QTest::addColumn<Case>("wanted");
        row("3x3", [](Case&) {});
        row("signed input", [](Case& c) { c.isSigned = true; });
        row("one scale", [](Case& c) { c.byChannel = false; });
        row("no bias", [](Case& c) { c.hasBias = false; });
        row("stride", [](Case& c) { c.stride = {2, 1}; });
        row("dilation", [](Case& c) { c.dilation = {1, 2}; });
        row("no padding", [](Case& c) { c.padding = {0, 0}; });
        row("odd sizes", [](Case& c) { c.input = {3, 64, 23, 37}; });
        row("core ATen", [](Case& c) { c.target = "aten.convolution.default"; });
        row("linear", [](Case& c) { c = linear(); });
        row("linear, signed input", [](Case& c) { (c = linear()).isSigned = true; });
        row("linear, rows", [](Case& c) { (c = linear()).input = {900, 256}; });
        row("linear, one scale, no bias", [](Case& c) {
            c = linear();
            c.byChannel = c.hasBias = false;
        });
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (!multipliesBytes())
            QSKIP("this processor has no AVX-512 VNNI");
    }

    void storedWeights_data()
    {
        rows();
        row("groups", [](Case& c) {
            c.groups = 2;
            c.weight = {64, 32, 3, 3};
        });
    }
    // Closer to the exact sum than floats are, at the first batch, which checks, and afterwards.
    void storedWeights()
    {
        QFETCH(Case, wanted);
        const Built made = build(wanted);
        const auto found = quantizedProducts(*made.graph);
        QCOMPARE(found.size(), std::size_t(1));
        QVERIFY(found[0].stored);
        Runner runner = runnerOf(made, found);
        for (int batch = 0; batch < 3; ++batch) {
            const at::Tensor x = gridInput(wanted);
            const at::Tensor y = ran(runner, made, x);
            QVERIFY(y.defined());
            QCOMPARE(y.scalar_type(), at::kFloat);
            const double off = test::sqnr(exactProduct(wanted, made, x), y);
            QVERIFY2(off > 130, qPrintable(QString::number(off)));
        }
        const at::Tensor last = gridInput(wanted).narrow(0, 0, 1); // of the data, a smaller batch
        const double off = test::sqnr(exactProduct(wanted, made, last), ran(runner, made, last));
        QVERIFY2(off > 130, qPrintable(QString::number(off)));
    }
    void anyWeights_data()
    {
        rows();
        row("linear, turned weight", [](Case& c) { (c = linear()).turned = true; });
    }
    // Two terms of eight bits are sixteen.
    void anyWeights()
    {
        QFETCH(Case, wanted);
        wanted.anyWeight = true;
        const Built made = build(wanted);
        QVERIFY(quantizedProducts(*made.graph).empty());
        Runner runner = runnerOf(made, {made.product});
        for (int batch = 0; batch < 2; ++batch) {
            const at::Tensor x = gridInput(wanted);
            const at::Tensor y = ran(runner, made, x);
            QVERIFY(y.defined());
            const double off = test::sqnr(exactProduct(wanted, made, x), y);
            QVERIFY2(off > 85, qPrintable(QString::number(off)));
        }
    }
    // The interpreter asks first, and takes what it gets.
    void standsInForTheOperator()
    {
        const Case wanted;
        const Built made = build(wanted);
        IntegerProducts products(quantizedProducts(*made.graph));
        int answered = 0;
        const Substitute counting = [&](const auto& running, const Node& node, Frame& frame) {
            const bool did = products.run(running, node, frame);
            answered += did;
            return did;
        };
        const auto interpreter = Interpreter::create(
            made.graph, {.layout = Layout::ChannelsLast, .substitute = counting});
        QVERIFY(interpreter);
        const at::Tensor x = gridInput(wanted) + 0.002; // within half a step
        const auto outputs = interpreter->run({x});
        QVERIFY2(outputs, outputs ? "" : outputs.error().line().c_str());
        QCOMPARE(answered, 1);
        const double off
            = test::sqnr(exactProduct(wanted, made, x - 0.002), outputs->at(0).toTensor());
        QVERIFY2(off > 130, qPrintable(QString::number(off)));
    }

    void leavesWhatIsOffTheGrid()
    {
        const Case wanted;
        at::Tensor x = gridInput(wanted);
        QVERIFY(ranFound(wanted, x).defined());
        const at::Tensor moved = x.clone();
        moved[1][5][7][3] += 1e-4;
        QVERIFY(!ranFound(wanted, moved).defined());
        const at::Tensor nan = x.clone();
        nan[1][63][23][23] = std::numeric_limits<double>::quiet_NaN();
        QVERIFY(!ranFound(wanted, nan).defined());
        const at::Tensor outside = x.clone();
        outside[0][0][0][0] = 300 * kScale;
        QVERIFY(!ranFound(wanted, outside).defined());
        QVERIFY(!ranFound(wanted, x.to(at::kDouble)).defined());
        QVERIFY(!ranFound(wanted, x.slice(3, 0, 24, 2)).defined()); // with holes
    }
    void leavesWhatIsNotSymmetric()
    {
        Case wanted;
        wanted.weightZeroPoint = 3;
        QVERIFY(!ranFound(wanted, gridInput(wanted)).defined());
        wanted.byChannel = false;
        QVERIFY(quantizedProducts(*build(wanted).graph).empty());
    }
    // A weight that is an input as well: f(x^) is about the value given for it.
    void leavesWeightsOfTheFrame()
    {
        const Case wanted;
        const Built made = build(wanted);
        Runner runner = runnerOf(made, quantizedProducts(*made.graph));
        Frame frame;
        frame.set(made.product.weight, at::randn(wanted.weight));
        QVERIFY(!ran(runner, made, gridInput(wanted), std::move(frame)).defined());
        QVERIFY(ran(runner, made, gridInput(wanted)).defined());
    }
    // Nothing can be checked where the result is the bias alone: the next batch will tell.
    void waitsForValuesThatDiffer()
    {
        const Case wanted;
        const Built made = build(wanted);
        Runner runner = runnerOf(made, quantizedProducts(*made.graph));
        at::Tensor x = gridInput(wanted);
        x[0].zero_();
        QVERIFY(!ran(runner, made, x).defined());
        QVERIFY(ran(runner, made, gridInput(wanted)).defined());
        QVERIFY(ran(runner, made, x).defined());
    }
    void leavesSmallGroups()
    {
        Case wanted;
        wanted.groups = 16;
        wanted.weight = {64, 4, 3, 3};
        wanted.input = {64, 64, 48, 48};
        QVERIFY(!ranFound(wanted, gridInput(wanted)).defined());
        wanted.groups = 8;
        wanted.weight[1] = 8;
        QVERIFY(ranFound(wanted, gridInput(wanted)).defined());
    }
    void leavesConvolutionsInAnotherLayout()
    {
        const Case images;
        QVERIFY(!ranFound(images, gridInput(images), Layout::AsGiven).defined());
        const Case rows = linear();
        QVERIFY(ranFound(rows, gridInput(rows), Layout::AsGiven).defined());
    }
    void leavesSumsBeyond32Bits()
    {
        Case wanted = linear();
        wanted.input = {64, 70'000};
        wanted.weight = {16, 70'000};
        QVERIFY(!ranFound(wanted, gridInput(wanted)).defined());
        wanted.input[1] = wanted.weight[1] = 60'000;
        QVERIFY(ranFound(wanted, gridInput(wanted)).defined());
    }
    void leavesWhatIsTooSmall()
    {
        Case wanted = linear();
        wanted.input = {4, 256};
        QVERIFY(!ranFound(wanted, gridInput(wanted)).defined());
    }
};

QTEST_GUILESS_MAIN(TestIntegerProducts)
#include "tst_integer_products.moc"

// SPDX-License-Identifier: Apache-2.0
// Ways in which LibTorch's operators refuse what a model or its data give them: the message names
// the node, the operator and what it got, in a user's words, on one line.
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/text/graph_parser.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

using Tensors = std::vector<at::Tensor>;

/// Words that only a library's sources know.
bool isLeak(const QString& text)
{
    static const QRegularExpression words(
        "c10::|at::\\w|std::|INTERNAL ASSERT|report a|stoll|map::at|/pytorch/|torch/csrc|\\.cpp:"
        "|\\.h:\\d|Facebook|https?:|enforce fail|DefaultCPUAllocator|ZeroDivisionError"
        "|not implemented "
        "for|\\b(Float|Long|Half|Double|Bool|Char|Byte)\\b|__torch__|[\\x00-\\x1f]");
    return words.match(text).hasMatch();
}

GraphPtr graphOf(const QString& target, const QString& args, std::size_t inputs)
{
    QString text;
    for (std::size_t i = 0; i < inputs; ++i)
        text += QString("%%1 #%2 = input \"%1\" () -> (%1: float32[...])\n")
                    .arg(QChar('a' + char(i)))
                    .arg(i + 1);
    text += QString("%bad #90 = op \"%1\" (%2) -> (bad: float32[...])\n").arg(target, args);
    text += "%output #91 = output \"\" (\"\"=%bad) -> ()\n";
    auto graph = parseGraph(text.toStdString());
    if (!graph)
        qFatal("%s\n%s", graph.error().line().c_str(), qPrintable(text));
    GraphEdit edit(*graph);
    edit.setTensors(std::make_shared<TensorStore>());
    return std::make_shared<const Graph>(edit.build());
}

at::Tensor f(const std::vector<std::int64_t>& sizes)
{
    return at::ones(sizes);
}

at::Tensor i(const std::vector<std::int64_t>& sizes, int value = 0)
{
    return at::full(sizes, value, at::kLong);
}

void row(const char* target, const char* args, const Tensors& inputs, const char* wanted = "")
{
    static int number = 0;
    QTest::addRow("%d %s", ++number, target)
        << QString("aten.") + target << QString(args) << inputs << QString(wanted);
}

void shapeRows()
{
    row("mm.default", "self=%a, mat2=%b", {f({2, 3}), f({4, 5})},
        "self float32 [2, 3], mat2 float32 [4, 5]");
    row("bmm.default", "self=%a, mat2=%b", {f({2, 3}), f({3, 2})}, "must be a 3D tensor");
    row("addmm.default", "self=%a, mat1=%b, mat2=%c", {f({3}), f({2, 3}), f({3, 4})},
        "expanded size");
    row("add.Tensor", "self=%a, other=%b", {f({2, 3}), f({2, 4})},
        "must match the size of tensor b");
    row("cat.default", "tensors=[%a, %b], dim=0", {f({2, 3}), f({3, 4})},
        "tensors float32 [2, 3], tensors float32 [3, 4]");
    row("stack.default", "tensors=[%a, %b]", {f({2}), f({3})}, "equal size");
    row("view.default", "self=%a, size=[4, 2]", {f({2, 3})}, "invalid for input of size 6");
    row("reshape.default", "self=%a, shape=[-1, -1]", {f({2, 3})}, "only one dimension");
    row("expand.default", "self=%a, size=[4, 3]", {f({2, 3})}, "expanded size");
    row("permute.default", "self=%a, dims=[0, 0]", {f({2, 3})}, "duplicate dims");
    row("transpose.int", "self=%a, dim0=0, dim1=5", {f({2, 3})}, "Dimension out of range");
    row("select.int", "self=%a, dim=0, index=7", {f({2, 3})}, "index 7 out of range");
    row("chunk.default", "self=%a, chunks=0", {f({4})}, "greater than 0");
    row("split_with_sizes.default", "self=%a, split_sizes=[1, 1]", {f({4})}, "sum exactly to 4");
    row("conv2d.default", "input=%a, weight=%b", {f({1, 3, 4, 4}), f({2, 4, 3, 3})},
        "to have 4 channels, but got 3");
    row("conv2d.default", "input=%a, weight=%b", {f({1, 3, 2, 2}), f({2, 3, 5, 5})}, "Kernel size");
    row("conv2d.default", "input=%a, weight=%b, bias=None, stride=[0, 0]",
        {f({1, 3, 4, 4}), f({2, 3, 3, 3})}, "stride");
    row("conv2d.default", "input=%a, weight=%b, bias=None, stride=[1, 1], padding=[-1, -1]",
        {f({1, 3, 4, 4}), f({2, 3, 3, 3})}, "negative padding");
    row("linear.default", "input=%a, weight=%b", {f({2, 3}), f({4, 5})}, "cannot be multiplied");
    row("batch_norm.default",
        "input=%a, weight=None, bias=None, running_mean=%b, running_var=%b, training=False, "
        "momentum=0.5, eps=0.5, cudnn_enabled=False",
        {f({2, 3, 4}), f({4})}, "running_mean");
    row("layer_norm.default", "input=%a, normalized_shape=[4]", {f({2, 3})}, "normalized_shape");
    row("group_norm.default", "input=%a, num_groups=2", {f({2, 3, 4})}, "num_groups");
    row("max_pool2d.default", "self=%a, kernel_size=[5, 5]", {f({1, 1, 2, 2})}, "too small");
    row("avg_pool2d.default", "self=%a, kernel_size=[0, 0]", {f({1, 1, 2, 2})});
    row("pixel_shuffle.default", "self=%a, upscale_factor=2", {f({1, 3, 2, 2})}, "divisible");
    row("unfold.default", "self=%a, dimension=0, size=9, step=1", {f({4})}, "size is 9");
    row("constant_pad_nd.default", "self=%a, pad=[1]", {f({2, 2})}, "even");
    row("reflection_pad2d.default", "self=%a, padding=[5, 5, 5, 5]", {f({1, 1, 2, 2})},
        "Padding size");
    row("constant_pad_nd.default", "self=%a, pad=[-5, 0]", {f({2, 2})});
    row("upsample_nearest2d.default", "self=%a, output_size=[0, 0]", {f({1, 1, 2, 2})},
        "greater than 0");
    row("dot.default", "self=%a, tensor=%b", {f({2}), f({3})});
    const char* const lstm = "input=%a, hx=[%b, %b], params=[%c, %d], has_biases=False, "
                             "num_layers=1, dropout=0.5, train=False, bidirectional=False, "
                             "batch_first=True"; // whose kernel would read beyond the states
    row("lstm.input", lstm, {f({8, 5, 4}), f({1, 2, 3}), f({12, 4}), f({12, 3})},
        "hx[0] is not of batch 8 and width 3; it got input float32 [8, 5, 4], hx float32 [1, 2, "
        "3]");
    row("lstm.input", lstm, {f({8, 5, 4}), f({1, 8, 2}), f({12, 4}), f({12, 3})}, "width 3");
    row("grid_sampler.default",
        "input=%a, grid=%b, interpolation_mode=0, padding_mode=0, align_corners=False",
        {f({1, 1, 2, 2}), f({2, 2, 2, 2})}, "same batch size");
    row("scaled_dot_product_attention.default", "query=%a, key=%b, value=%a",
        {f({1, 2, 3}), f({1, 2, 4})});
    row("einsum.default", "equation=\"ij,jk->ik\", tensors=[%a, %b]", {f({2, 3}), f({4, 4})},
        "does not broadcast");
    row("roll.default", "self=%a, shifts=[1, 2], dims=[0]", {f({2})}, "align");
    row("flip.default", "self=%a, dims=[0, 0]", {f({2})}, "multiple times");
}

void numberRows()
{
    // sizes without sense
    row("repeat.default", "self=%a, repeats=[-1]", {f({2})}, "negative dimension");
    row("repeat.default", "self=%a, repeats=[2147483648, 2147483648]", {f({2, 2})}, "overflowed");
    row("zeros.default", "size=[-3]", {});
    row("full.default", "size=[4611686018427387904, 4], fill_value=1", {}, "overflowed");
    row("zeros.default", "size=[70368744177664]", {}, // more than a process can address
        "out of memory: 262144.0 GB could not be allocated");
    row("arange.start_step", "start=0, end=5, step=-1", {}, "inconsistent");
    row("linspace.default", "start=0, end=1, steps=-2", {}, "non-negative");
    row("topk.default", "self=%a, k=5", {f({2})}, "out of range");
    row("sum.dim_IntList", "self=%a, dim=[3]", {f({2})}, "Dimension out of range");
    row("as_strided.default", "self=%a, size=[5, 5], stride=[5, 1]", {f({2})}, "out of bounds");
    // indices
    row("embedding.default", "weight=%a, indices=%b", {f({4, 4}), i({2}, 9)},
        "indices int64 [2] from 9 to 9");
    row("gather.default", "self=%a, dim=1, index=%b", {f({2, 3}), i({2, 2}, 9)},
        "index 9 is out of bounds");
    row("index_select.default", "self=%a, dim=0, index=%b", {f({2, 3}), i({2}, 9)});
    row("index.Tensor", "self=%a, indices=[%b]", {f({2, 3}), i({2}, 9)},
        "index 9 is out of bounds");
    row("scatter.value", "self=%a, dim=1, index=%b, value=1", {f({2, 3}), i({2, 2}, 9)},
        "index 9 is out of bounds");
    row("one_hot.default", "self=%a, num_classes=3", {i({2}, -1)}, "non-negative");
    row("nll_loss_nd.default", "self=%a, target=%b", {f({2, 3}), i({2}, 9)}, "Target 9");
    row("bincount.default", "self=%a", {i({2}, -1)}, "non-negative");
    // numbers
    row("linalg_inv.default", "A=%a", {at::zeros({2, 2})}, "singular");
    row("linalg_inv.default", "A=%a", {f({2, 3})}, "square");
    row("linalg_cholesky.default", "self=%a", {-at::eye(2)}, "positive-definite");
    row("linalg_solve.default", "A=%a, B=%a", {at::zeros({2, 2})}, "singular");
    row("remainder.Tensor", "self=%a, other=%b", {i({2}), i({2})}, "an integer is divided by zero");
    row("bernoulli.default", "self=%a", {f({3}) * 9}, "it needs p_in");
    row("multinomial.default", "self=%a, num_samples=1", {-f({3})}, "probability");
    row("max.default", "self=%a", {f({0})});
    row("argmax.default", "self=%a", {f({0})});
    row("item.default", "self=%a", {f({3})}, "3 elements");
}

void typeRows()
{
    // types
    row("mm.default", "self=%a, mat2=%b", {f({2, 3}), f({3, 2}).to(at::kDouble)},
        "mat2 float64 [3, 2]");
    row("conv2d.default", "input=%a, weight=%b", {f({1, 3, 4, 4}).to(at::kHalf), f({2, 3, 3, 3})},
        "float16");
    row("linear.default", "input=%a, weight=%b", {f({2, 3}).to(at::kHalf), f({4, 3})});
    row("embedding.default", "weight=%a, indices=%b", {f({4, 4}), f({2})}, "int64, int32");
    row("gather.default", "self=%a, dim=1, index=%b", {f({2, 3}), f({2, 2})});
    row("softmax.int", "self=%a, dim=0", {i({2})}, "no kernel for the type int64");
    row("bitwise_and.Tensor", "self=%a, other=%b", {f({2}), f({2})},
        "no kernel for the type float32");
    row("median.default", "self=%a", {at::ones({2}, at::kBool)}, "no kernel for the type bool");
    row("where.self", "condition=%a, self=%a, other=%a", {f({2})}, "boolean");
    row("norm.Scalar", "self=%a", {i({2})}, "floating point");
    row("log.default", "self=%a", {at::quantize_per_tensor(f({2}), 0.1, 0, at::kQUInt8)},
        "for quantized values");
    row("quantize_per_tensor.default", "self=%a, scale=0.5, zero_point=999, dtype=dtype(quint8)",
        {f({2})}, "zero_point 999");
    // words
    row("pad.default", "self=%a, pad=[1, 1], mode=\"nothing\"", {f({2, 2})}, "nothing");
    row("div.Tensor_mode", "self=%a, other=%a, rounding_mode=\"odd\"", {f({2})}, "rounding_mode");
    row("no_such_thing.default", "self=%a", {f({2})}, "unknown to this LibTorch");
    row("add.Tensor", "self=%a", {f({2})}, "lacks its argument 'other'");
    row("add.Tensor", "self=%a, other=%a, nothing=1", {f({2})}, "no argument 'nothing'");
    row("relu.default", "self=\"text\"", {});
    row("relu.default", "self=[%a]", {f({2})});
}

} // namespace

class TestOperatorFailures : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void theMessageIsForAUser_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("args");
        QTest::addColumn<Tensors>("inputs");
        QTest::addColumn<QString>("wanted");
        shapeRows();
        numberRows();
        typeRows();
    }
    void theMessageIsForAUser()
    {
        QFETCH(QString, target);
        QFETCH(QString, args);
        QFETCH(Tensors, inputs);
        QFETCH(QString, wanted);
        const GraphPtr graph = graphOf(target, args, inputs.size());
        const auto runner = Interpreter::create(graph);
        std::vector<at::IValue> values(inputs.begin(), inputs.end());
        const auto outputs = runner
            ? runner->run(values)
            : Result<std::vector<at::IValue>>(tl::unexpected(runner.error()));
        QVERIFY(!outputs);
        const QString line = QString::fromStdString(outputs.error().line());
        QVERIFY2(!isLeak(line), qPrintable(line));
        QVERIFY2(line.contains("node 'bad'"), qPrintable(line));
        QVERIFY2(line.contains(target), qPrintable(line));
        QVERIFY2(line.contains(wanted), qPrintable(line));
        QVERIFY2(line.size() < 1000, qPrintable(line));
    }
};

QTEST_GUILESS_MAIN(TestOperatorFailures)
#include "tst_operator_failures.moc"

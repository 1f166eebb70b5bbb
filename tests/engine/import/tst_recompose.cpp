// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_verifier.h"
#include "engine/graph/text/graph_parser.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/import/recompose/recompose.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

constexpr const char* kFirst = R"(graph next=100
%x #1 = input "x" () -> (x: float32[1, 8, 6])
%w #2 = parameter "w" () -> (w: float32[8]) tensor=1
%m #3 = parameter "m" () -> (m: float32[4, 6]) tensor=2
)";

/// The operators of a graph, one a line: "%name = target (arguments)".
QString operatorsOf(const Graph& graph)
{
    QString text;
    for (const NodePtr& node : graph.nodes()) {
        if (node->kind != NodeKind::Op)
            continue;
        text += QString::fromStdString("%" + node->name + " = " + node->target + " (");
        for (std::size_t i = 0; i < node->args.size(); ++i)
            text += QString::fromStdString((i ? ", " : "") + node->args[i].name + "="
                                           + printArgument(graph, node->args[i].value));
        text += ")\n";
    }
    return text;
}

/// All operators of the text are one call of the function; its last value is the model's output.
QString recomposed(const QString& function, const QString& operators)
{
    QString text = kFirst;
    int id = 3;
    QString last;
    for (const QString& line : operators.split('\n', Qt::SkipEmptyParts)) {
        // "y [1, 2] = aten.relu.default (self=%x)"
        const auto parts = line.trimmed().split(" = ");
        const QString name = parts[0].section(' ', 0, 0), shape = parts[0].section(' ', 1);
        const QString target = parts[1].section(' ', 0, 0), args = parts[1].section(' ', 1);
        text += QString("%%1 #%2 = op \"%3\" %4 -> (%1: float32%5)\n")
                    .arg(name, QString::number(++id), target, args, shape);
        last = name;
    }
    text += QString("%output #%1 = output \"\" (\"\"=%%2) -> ()\n").arg(++id).arg(last);
    const auto graph = parseGraph(text.toStdString());
    if (!graph)
        qFatal("%s in %s", graph.error().line().c_str(), qPrintable(text));
    FunctionCalls calls;
    for (const NodePtr& node : graph->nodes())
        if (node->kind == NodeKind::Op)
            calls[node->id] = function.toStdString() + "_1";
    GraphEdit edit(*graph);
    recompose(edit, calls);
    edit.eraseDead();
    const Graph made = edit.build();
    if (const auto sound = verifyGraph(made); !sound)
        qFatal("%s", sound.error().line().c_str());
    return operatorsOf(made);
}

} // namespace

/// The operators that core ATen spells a call with, and the one that it was.
class TestRecompose : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void oneOperator_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("whole");
        const auto row = [](const char* function, const char* text, const char* whole) {
            QTest::newRow(function) << QString(text) << QString(whole);
        };
        row("hardswish", R"(
            a [1, 8, 6] = aten.add.Tensor (self=%x, other=3)
            b [1, 8, 6] = aten.clamp_min.default (self=%a, min=0)
            c [1, 8, 6] = aten.clamp_max.default (self=%b, max=6)
            d [1, 8, 6] = aten.mul.Tensor (self=%x, other=%c)
            e [1, 8, 6] = aten.div.Tensor (self=%d, other=6))",
            "%hardswish = aten.hardswish.default (self=x)\n");
        row("dropout", "a [1, 8, 6] = aten.clone.default (self=%x)",
            "%dropout = aten.dropout.default (input=x, p=0.5, train=False)\n");
        row("stack", R"(
            a [1, 1, 8, 6] = aten.unsqueeze.default (self=%x, dim=1)
            b [1, 1, 8, 6] = aten.unsqueeze.default (self=%x, dim=1)
            c [1, 2, 8, 6] = aten.cat.default (tensors=[%a, %b], dim=1))",
            "%stack = aten.stack.default (tensors=[x, x], dim=1)\n");
        row("linear", R"(
            a [6, 4] = aten.permute.default (self=%m, dims=[1, 0])
            b [8, 6] = aten.view.default (self=%x, size=[8, 6])
            c [8, 4] = aten.mm.default (self=%b, mat2=%a)
            d [1, 8, 4] = aten.view.default (self=%c, size=[1, 8, 4]))",
            "%linear = aten.linear.default (input=x, weight=m)\n");
        row("prelu", R"(
            a [1, 8, 6] = aten.gt.Scalar (self=%x, other=0)
            b [1, 8, 1] = aten.view.default (self=%w, size=[1, 8, 1])
            c [1, 8, 6] = aten.mul.Tensor (self=%b, other=%x)
            d [1, 8, 6] = aten.where.self (condition=%a, self=%x, other=%c))",
            "%prelu = aten.prelu.default (self=x, weight=w)\n");
        row("instance_norm", R"(
            r [8] = aten.repeat.default (self=%w, repeats=[1])
            a [1, 8, 6] = aten.view.default (self=%x, size=[1, 8, 6])
            b [1, 8, 6] = aten._native_batch_norm_legit.no_stats (input=%a, weight=%r, bias=None, training=True, momentum=0.1, eps=1e-05)
            c [1, 8, 6] = aten.view.default (self=%b, size=[1, 8, 6]))",
            "%instance_norm = aten.instance_norm.default (input=x, weight=w, bias=None, "
            "running_mean=None, "
            "running_var=None, use_input_stats=True, momentum=0.1, eps=1e-05, "
            "cudnn_enabled=False)\n");
        row("pixel_shuffle", R"(
            a [1, 4, 2, 1, 6] = aten.view.default (self=%x, size=[1, 4, 2, 1, 6])
            b [1, 4, 1, 2, 6] = aten.permute.default (self=%a, dims=[0, 1, 3, 2, 4])
            c [1, 8, 6] = aten.view.default (self=%b, size=[1, 8, 6]))",
            "%pixel_shuffle = aten.pixel_shuffle.default (self=x, upscale_factor=2)\n");
        row("avg_pool1d", R"(
            a [1, 8, 1, 6] = aten.unsqueeze.default (self=%x, dim=2)
            b [1, 8, 1, 3] = aten.avg_pool2d.default (self=%a, kernel_size=[1, 2], stride=[1, 2], padding=[0, 0], ceil_mode=True)
            c [1, 8, 3] = aten.squeeze.dims (self=%b, dim=[-2]))",
            "%avg_pool1d = aten.avg_pool1d.default (self=x, kernel_size=[2], stride=[2], "
            "padding=[0], ceil_mode=True)\n");
        row("repeat_interleave", R"(
            a [1, 8, 1, 6] = aten.unsqueeze.default (self=%x, dim=2)
            b [1, 8, 3, 6] = aten.expand.default (self=%a, size=[-1, -1, 3, -1])
            c [1, 24, 6] = aten.view.default (self=%b, size=[1, 24, 6]))",
            "%repeat_interleave = aten.repeat_interleave.self_int (self=x, repeats=3, dim=1)\n");
        row("pad", R"(
            a [9] = aten.arange.start_step (start=-1, end=8)
            b [9] = aten.abs.default (self=%a)
            c [9] = aten.sub.Tensor (self=5, other=%b)
            d [9] = aten.abs.default (self=%c)
            e [9] = aten.sub.Tensor (self=5, other=%d)
            f [1, 8, 9] = aten.index.Tensor (self=%x, indices=[None, None, %e]))",
            "%pad = aten.pad.default (self=x, pad=[1, 2], mode=\"reflect\")\n");
    }
    void oneOperator()
    {
        QFETCH(QString, text);
        QFETCH(QString, whole);
        QCOMPARE(recomposed(QTest::currentDataTag(), text), whole);
    }

    /// What only looks alike stays as it is written.
    void otherOperators_data()
    {
        QTest::addColumn<QString>("function");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* what, const char* function, const char* text) {
            QTest::newRow(what) << QString(function) << QString(text);
        };
        row("another shift", "hardswish", R"(
            a [1, 8, 6] = aten.add.Tensor (self=%x, other=2)
            b [1, 8, 6] = aten.clamp_min.default (self=%a, min=0))");
        row("another function", "softplus", "a [1, 8, 6] = aten.clone.default (self=%x)");
        row("slopes that are computed", "prelu", R"(
            s [8] = aten.relu.default (self=%w)
            a [1, 8, 6] = aten.gt.Scalar (self=%x, other=0)
            b [1, 8, 1] = aten.view.default (self=%s, size=[1, 8, 1])
            c [1, 8, 6] = aten.mul.Tensor (self=%b, other=%x)
            d [1, 8, 6] = aten.where.self (condition=%a, self=%x, other=%c))");
        row("parts along different dimensions", "stack", R"(
            a [1, 1, 8, 6] = aten.unsqueeze.default (self=%x, dim=0)
            b [1, 1, 8, 6] = aten.unsqueeze.default (self=%x, dim=1)
            c [1, 2, 8, 6] = aten.cat.default (tensors=[%a, %b], dim=1))");
        row("a product without its first factor", "prelu", R"(
            a [1, 8, 6] = aten.gt.Scalar (self=%x, other=0)
            c [1, 8, 6] = aten.mul.Tensor (other=%x)
            d [1, 8, 6] = aten.where.self (condition=%a, self=%x, other=%c))");
        row("slopes that are a number", "prelu", R"(
            a [1, 8, 6] = aten.gt.Scalar (self=%x, other=0)
            c [1, 8, 6] = aten.mul.Tensor (self=2, other=%x)
            d [1, 8, 6] = aten.where.self (condition=%a, self=%x, other=%c))");
        row("weights repeated of nothing", "instance_norm", R"(
            r [8] = aten.repeat.default (repeats=[1])
            a [1, 8, 6] = aten.view.default (self=%x, size=[1, 8, 6])
            b [1, 8, 6] = aten._native_batch_norm_legit.no_stats (input=%a, weight=%r, momentum=0.1, eps=1e-05))");
        row("a view of nothing", "pixel_shuffle", R"(
            a [1, 4, 2, 1, 6] = aten.view.default (size=[1, 4, 2, 1, 6])
            b [1, 4, 1, 2, 6] = aten.permute.default (self=%a, dims=[0, 1, 3, 2, 4])
            c [1, 8, 6] = aten.add.Tensor (self=%b, other=%x))");
        row("a number shifted", "hardswish", R"(
            a [1, 8, 6] = aten.add.Tensor (self=2, other=3)
            b [1, 8, 6] = aten.clamp_min.default (self=%a, min=0)
            d [1, 8, 6] = aten.mul.Tensor (self=%x, other=%b))");
        row("a matrix alone", "linear", R"(
            a [6, 4] = aten.permute.default (self=%m, dims=[1, 0])
            c [1, 8, 4] = aten.mm.default (self=%x, mat2=%a))");
        row("borders of another size", "pad", R"(
            a [9] = aten.arange.start_step (start=-1, end=8)
            e [9] = aten.clamp.default (self=%a, min=0, max=4)
            f [1, 8, 9] = aten.index.Tensor (self=%x, indices=[None, None, %e]))");
    }
    void otherOperators()
    {
        QFETCH(QString, function);
        QFETCH(QString, text);
        QString kept;
        for (const QString& line : text.split('\n', Qt::SkipEmptyParts))
            kept += line.section(" = ", 1).section(' ', 0, 0) + '\n';
        QString made;
        for (const QString& line : recomposed(function, text).split('\n', Qt::SkipEmptyParts))
            made += line.section(" = ", 1).section(' ', 0, 0) + '\n';
        QCOMPARE(made, kept);
    }
};

QTEST_GUILESS_MAIN(TestRecompose)
#include "tst_recompose.moc"

// SPDX-License-Identifier: Apache-2.0
// What is written as ONNX, seen in memory and in the file. That ONNX Runtime computes the same with
// it is held by tests/oracle/test_onnx.py.
#include "engine/convert/convert.h"
#include "engine/export/exporter.h"
#include "engine/export/onnx/onnx_exporter.h"
#include "engine/graph/operators/state.h"
#include "tests/engine/export/graph_builder.h"

#include <QtCore/QFile>
#include <QtCore/QTemporaryDir>
#include <QtTest/QtTest>

#include <algorithm>

using namespace qs;

namespace {

const OnnxNode* findOp(const OnnxGraph& graph, const std::string& op)
{
    const auto it = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                 [&](const OnnxNode& node) { return node.op == op; });
    return it == graph.nodes.end() ? nullptr : &*it;
}

const OnnxTensor* findTensor(const OnnxGraph& graph, const std::string& name)
{
    const auto it = std::find_if(graph.initializers.begin(), graph.initializers.end(),
                                 [&](const OnnxTensor& tensor) { return tensor.name == name; });
    return it == graph.initializers.end() ? nullptr : &*it;
}

/// x, quantized to the given range, times a weight of int8.
GraphPtr linear(GraphBuilder& net, int high)
{
    const ValueRef x = net.input("x", GraphBuilder::batchOf({4}));
    const ValueRef pair = net.pair(x, 0.5, 10, {0, high}, DType::UInt8, GraphBuilder::batchOf({4}));
    const ValueRef weight = net.held("fc.weight", at::arange(12, at::kFloat).reshape({3, 4}) - 6);
    const ValueRef integers = net.channelPair(weight, at::full({3}, 0.25, at::kFloat), "fc_weight");
    const ValueRef y = net.op("aten.linear.default", {{"input", pair}, {"weight", integers}},
                              GraphBuilder::batchOf({3}));
    return net.finish({Argument(y), Argument(y)});
}

QString lineOf(const Error& error)
{
    return QString::fromStdString(error.line());
}

} // namespace

class TestOnnx : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerQuantizedDecomposed(); }

    void weightsAreIntegers()
    {
        GraphBuilder net;
        const auto model = onnxModel(*linear(net, 255));
        QVERIFY2(model, model ? "" : qPrintable(lineOf(model.error())));
        const OnnxTensor* weight = findTensor(model->graph, "fc.weight");
        QVERIFY(weight);
        QCOMPARE(weight->data.scalar_type(), at::kChar);
        QCOMPARE(weight->data.sizes().vec(), (std::vector<std::int64_t> {3, 4}));
        QCOMPARE(weight->data[0][0].item<int>(), -24); // -6 / 0.25
        const OnnxNode* product = findOp(model->graph, "Gemm");
        QVERIFY(product);
        const auto isRead = [&](const OnnxNode& node) {
            return node.op == "DequantizeLinear" && node.inputs.at(0) == "fc.weight"
                && node.outputs.at(0) == product->inputs.at(1);
        };
        QVERIFY(std::any_of(model->graph.nodes.begin(), model->graph.nodes.end(), isRead));
        const auto quantizers
            = std::count_if(model->graph.nodes.begin(), model->graph.nodes.end(),
                            [](const auto& n) { return n.op == "QuantizeLinear"; });
        QCOMPARE(int(quantizers), 1); // the weight has none
        QVERIFY(!findOp(model->graph, "Clip"));
    }

    void inputsAndOutputsKeepTheirNames()
    {
        GraphBuilder net;
        const auto model = onnxModel(*linear(net, 255));
        QVERIFY(model);
        QCOMPARE(model->graph.inputs.at(0).name, std::string("x"));
        const auto& shape = *model->graph.inputs.at(0).shape;
        QCOMPARE(std::get<std::string>(shape.at(0)), std::string("s77"));
        QCOMPARE(std::get<std::int64_t>(shape.at(1)), 4);
        QCOMPARE(model->graph.outputs.size(), std::size_t(2)); // one value, returned twice
        QVERIFY(model->graph.outputs[0].name != model->graph.outputs[1].name);
    }

    void narrowRangesAreCut()
    {
        GraphBuilder net;
        const auto model = onnxModel(*linear(net, 127));
        QVERIFY(model);
        const OnnxNode* clip = findOp(model->graph, "Clip");
        QVERIFY(clip);
        QCOMPARE(clip->inputs.at(0), findOp(model->graph, "QuantizeLinear")->outputs.at(0));
        const auto isRead = [&](const OnnxNode& node) {
            return node.op == "DequantizeLinear" && node.inputs.at(0) == clip->outputs.at(0);
        };
        QVERIFY(std::any_of(model->graph.nodes.begin(), model->graph.nodes.end(), isRead));
        const OnnxTensor* low = findTensor(model->graph, clip->inputs.at(1));
        const OnnxTensor* high = findTensor(model->graph, clip->inputs.at(2));
        QCOMPARE(low->data.scalar_type(), at::kByte); // the codes are cut, where they are bytes
        QCOMPARE(low->data.item<int>(), 0);
        QCOMPARE(high->data.item<int>(), 127);
    }

    void unknownOperatorsAreAllNamed()
    {
        GraphBuilder net;
        const ValueType type = GraphBuilder::batchOf({4});
        const ValueRef x = net.input("x", type);
        ValueRef y = net.op("aten.erfinv.default", {{"self", x}}, type);
        y = net.op("aten.digamma.default", {{"self", y}}, type);
        y = net.op("aten.erfinv.default", {{"self", y}}, type);
        const GraphPtr graph = net.finish({Argument(y)});
        const auto model = onnxModel(*graph);
        QVERIFY(!model);
        const QString line = lineOf(model.error());
        QVERIFY2(line.startsWith("node 'erfinv': ONNX has no form of aten.erfinv.default, "
                                 "aten.digamma.default, 2 operators in all"),
                 qPrintable(line));
        QVERIFY(!checkForms(*graph, {"onnx"}));
        QVERIFY(checkForms(*graph, {"torchscript", "pt2"}));
    }

    void stateIsRefused()
    {
        GraphBuilder net;
        const ValueType type = GraphBuilder::tensor({Dim::fixed(4)});
        const ValueRef x = net.input("x", type);
        const ValueRef held = net.buffer("count", at::zeros({4}), true);
        const ValueRef sum = net.op("aten.add.Tensor", {{"self", x}, {"other", held}}, type);
        net.op(std::string(kSetStateTarget), {{"holder", "p_count"}, {"value", sum}}, type);
        const auto model = onnxModel(*net.finish({Argument(sum)}));
        QVERIFY(!model);
        QVERIFY2(lineOf(model.error()).contains("keeps no state"),
                 qPrintable(lineOf(model.error())));
    }

    void olderOperatorSets()
    {
        const auto built = [](std::int64_t opset) {
            GraphBuilder net;
            const ValueType type = GraphBuilder::batchOf({4});
            const ValueRef x = net.input("x", type);
            const ValueRef y
                = net.op("aten.layer_norm.default",
                         {{"input", x}, {"normalized_shape", Argument::List {Argument(4)}}}, type);
            OnnxOptions options;
            options.opset = opset;
            return onnxModel(*net.finish({Argument(y)}), options);
        };
        QVERIFY(findOp(built(21)->graph, "LayerNormalization"));
        const auto old = built(13);
        QVERIFY(old);
        QVERIFY(!findOp(old->graph, "LayerNormalization"));
        QCOMPARE(findOp(old->graph, "ReduceMean")->inputs.size(),
                 std::size_t(1)); // axes: attribute
        QVERIFY(!built(12));
        QVERIFY(!built(24));
    }

    void largeTensorsStandBeside()
    {
        QTemporaryDir folder;
        GraphBuilder net;
        const ValueType type = GraphBuilder::batchOf({64});
        const ValueRef x = net.input("x", type);
        const at::Tensor weight = at::rand({64, 64}), other = at::rand({64});
        ValueRef y = net.op("aten.matmul.default",
                            {{"self", x}, {"other", net.held("weight", weight)}}, type);
        y = net.op("aten.add.Tensor", {{"self", y}, {"other", net.held("bias", other)}}, type);
        const std::string path = folder.filePath("model.int8.onnx").toStdString();
        OnnxOptions options;
        options.inlineLimit = 1000;
        const auto written = writeOnnx(*net.finish({Argument(y)}), path, path, options);
        QVERIFY2(written, written ? "" : qPrintable(lineOf(written.error())));
        QFile model(QString::fromStdString(path)), data(QString::fromStdString(onnxDataFile(path)));
        QVERIFY(model.open(QIODevice::ReadOnly) && data.open(QIODevice::ReadOnly));
        const QByteArray bytes = model.readAll(), held = data.readAll();
        QVERIFY(bytes.contains("model.int8.onnx.data"));
        QCOMPARE(held.size(), 64 * 64 * 4); // the small one stays in the model
        QCOMPARE(std::memcmp(held.constData(), weight.const_data_ptr(), std::size_t(held.size())),
                 0);
        QVERIFY(bytes.contains(QByteArray(static_cast<const char*>(other.const_data_ptr()), 256)));
    }
};

QTEST_GUILESS_MAIN(TestOnnx)
#include "tst_onnx.moc"

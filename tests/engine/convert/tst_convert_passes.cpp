// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/convert.h"
#include "engine/convert/lowering/lower.h"
#include "engine/execute/tensor_store.h"
#include "tests/support/graph_text_case.h"

#include <ATen/ATen.h>

using namespace qs;
using namespace qs::test;

namespace {

/// Of observers 1, 2 ...; one with `owner` sees that node's weight "w".
struct Observer
{
    ObserverSpec spec;
    std::optional<QParams> qparams;
    std::string owner;
};

QParams int8(std::vector<float> scales)
{
    QParams q;
    q.dtype = DType::QInt8;
    q.quantMin = -128;
    q.quantMax = 127;
    q.qscheme = scales.size() > 1 ? QScheme::PerChannelSymmetric : QScheme::PerTensorSymmetric;
    q.zeroPoint.resize(scales.size());
    q.scale = std::move(scales);
    return q;
}

ObserverSpec specOf(DType dtype, bool isDynamic = false)
{
    ObserverSpec spec;
    spec.dtype = dtype;
    spec.isDynamic = isDynamic;
    spec.eps = 0.25;
    return spec;
}

Pass quantizing(const std::vector<Observer>& observers)
{
    return Pass("quantize-dequantize", [observers](const GraphPtr& graph) -> Result<GraphPtr> {
        auto plan = std::make_shared<Plan>();
        auto prepared = std::make_shared<PreparedModel>();
        QParamsTable qparams;
        for (const Observer& observer : observers) {
            PlannedObserver planned;
            planned.id = ObserverId(std::uint32_t(plan->observers.size() + 1));
            planned.spec = observer.spec;
            if (!observer.owner.empty()) {
                planned.isWeight = true;
                planned.weightOwner = graph->tryFind(observer.owner)->id;
                prepared->observedWeight[planned.id] = {graph->tryFind("w")->id, 0};
            }
            if (observer.qparams)
                qparams[planned.id] = *observer.qparams;
            plan->observers.push_back(planned);
        }
        prepared->graph = prepared->model = graph;
        prepared->plan = std::move(plan);
        QS_TRY(const ReferenceModel made, convertToReference(prepared, qparams, "x86"));
        return made.model->reference;
    });
}

/// `keptFloat`: a node that a rule keeps float.
Pass lowering(const std::string& keptFloat = {})
{
    return Pass("lower", [keptFloat](const Graph& graph) -> Result<GraphPtr> {
        LoweringOptions options;
        options.rows = defaultKernelRows();
        for (const NodePtr& node : graph.nodes())
            if (node->name == keptFloat)
                options.keptFloat.insert(node->id);
        QS_TRY(const LoweredGraph lowered, lowerGraph(graph, options));
        return lowered.graph;
    });
}

std::shared_ptr<TensorStore> tensors()
{
    auto store = std::make_shared<TensorStore>();
    store->add(at::ones({2, 2}));
    store->add(at::ones({2}));
    return store;
}

const QString kSeen = R"(
        x: float32[2] = input
        seen: float32[2] = quantscope.observe.default(input=%x) origin=1 observer=1
        y: float32[2] = aten.relu.default(self=%seen)
        return %y
    )";
const QString kLayer = R"(
        w: float32[2, 2] = parameter "fc.weight" tensor=1 scope="fc"
        x: float32[2] = input
        y: float32[2] = aten.linear.default(input=%x, weight=%w)
        return %y
    )";
const QString kRelu = R"(
        x: float32[2] = input
        q: int8[2] = Q(%x, PARAMS)
        d: float32[2] = DQ(%q, PARAMS)
        y: float32[2] = aten.relu.default(self=%d)
        yq: int8[2] = Q(%y, PARAMS)
        yd: float32[2] = DQ(%yq, PARAMS)
        return %yd
    )";
const QString kSteps = R"(
        x: float32[2] = input
        q: qint8[2] = TENSOR(self=%x, scale=0.5, zero_point=0, dtype=dtype(qint8))
        d: float32[2] = aten.dequantize.self(self=%q)
        y: float32[2] = aten.relu.default(self=%d)
        yq: qint8[2] = TENSOR(self=%y, scale=0.5, zero_point=0, dtype=dtype(qint8))
        yd: float32[2] = aten.dequantize.self(self=%yq)
        return %yd
    )";

const std::vector<PassCase> kCases {
    {quantizing({{specOf(DType::QInt8), int8({0.5}), ""}}), "an observer becomes a pair", kSeen,
     R"(
            x: float32[2] = input
            quantize_per_tensor: int8[2] = Q(%x, PARAMS) origin=1
            dequantize_per_tensor: float32[2] = DQ(%quantize_per_tensor, PARAMS) origin=1
            y: float32[2] = aten.relu.default(self=%dequantize_per_tensor)
            return %y
        )"},
    {quantizing({{specOf(DType::Float32), {}, ""}}), "one of floats goes", kSeen, R"(
            x: float32[2] = input
            y: float32[2] = aten.relu.default(self=%x)
            return %y
        )"},
    {quantizing({{specOf(DType::Float16), {}, ""}}), "half floats are casts", kSeen, R"(
            x: float32[2] = input
            to: float16[2] = aten.to.dtype(self=%x, dtype=dtype(float16)) origin=1
            to_1: float32[2] = aten.to.dtype(self=%to, dtype=dtype(float32)) origin=1
            y: float32[2] = aten.relu.default(self=%to_1)
            return %y
        )"},
    {quantizing({{specOf(DType::QInt8, true), {}, ""}}), "parameters of the moment", kSeen, R"(
            x: float32[2] = input
            choose_qparams (dynamic_scale: float64[1], dynamic_zero_point: int64[1]) = quantized_decomposed.choose_qparams.tensor(input=%x, quant_min=-64, quant_max=63, eps=0.25, dtype=dtype(int8)) origin=1
            quantize_per_tensor: int8[2] = quantized_decomposed.quantize_per_tensor.tensor(input=%x, scale=%dynamic_scale, zero_point=%dynamic_zero_point, quant_min=-128, quant_max=127, dtype=dtype(int8)) origin=1
            dequantize_per_tensor: float32[2] = quantized_decomposed.dequantize_per_tensor.tensor(input=%quantize_per_tensor, scale=%dynamic_scale, zero_point=%dynamic_zero_point, quant_min=-128, quant_max=127, dtype=dtype(int8)) origin=1
            y: float32[2] = aten.relu.default(self=%dequantize_per_tensor)
            return %y
        )"},
    {quantizing({{specOf(DType::QInt8), int8({0.5, 0.25}), "y"}}), "a weight, by channel", kLayer,
     R"(
            w: float32[2, 2] = parameter "fc.weight" tensor=1 scope="fc"
            x: float32[2] = input
            w_scale: float32[2] = constant tensor=3 scope="fc"
            w_zero_point: int64[2] = constant tensor=4 scope="fc"
            quantize_per_channel: int8[2, 2] = quantized_decomposed.quantize_per_channel.default(input=%w, scales=%w_scale, zero_points=%w_zero_point, axis=0, quant_min=-128, quant_max=127, dtype=dtype(int8)) origin=3 scope="fc"
            dequantize_per_channel: float32[2, 2] = quantized_decomposed.dequantize_per_channel.default(input=%quantize_per_channel, scales=%w_scale, zero_points=%w_zero_point, axis=0, quant_min=-128, quant_max=127, dtype=dtype(int8)) origin=3 scope="fc"
            y: float32[2] = aten.linear.default(input=%x, weight=%dequantize_per_channel)
            return %y
        )",
     tensors()},
    {quantizing({{specOf(DType::QInt8), {}, "y"}}), "a weight without parameters", kLayer, "",
     tensors()},
    {lowering(), "an operator between dequantize and quantize becomes a kernel", kRelu, R"(
            x: float32[2] = input
            q: qint8[2] = TENSOR(self=%x, scale=0.5, zero_point=0, dtype=dtype(qint8))
            y_1: qint8[2] = aten.relu.default(self=%q) origin=4
            yd: float32[2] = aten.dequantize.self(self=%y_1)
            return %yd
        )"},
    {lowering("y"), "one that a rule keeps float does not", kRelu, kSteps},
    {lowering(), "nor one that somebody else reads", QString(kRelu).replace("%yd\n", "[%yd, %y]\n"),
     QString(kSteps).replace("%yd\n", "[%yd, %y]\n")},
    {lowering(), "a layer's weight is packed", R"(
            w: float32[2, 2] = parameter "fc.weight" tensor=1
            b: float32[2] = parameter "fc.bias" tensor=2
            x: float32[2] = input
            q: uint8[2] = Q(%x, UINT8)
            d: float32[2] = DQ(%q, UINT8)
            wq: int8[2, 2] = Q(%w, PARAMS)
            wd: float32[2, 2] = DQ(%wq, PARAMS)
            y: float32[2] = aten.linear.default(input=%d, weight=%wd, bias=%b)
            yq: uint8[2] = Q(%y, UINT8)
            yd: float32[2] = DQ(%yq, UINT8)
            return %yd
        )",
     R"(
            w: float32[2, 2] = parameter "fc.weight" tensor=1
            b: float32[2] = parameter "fc.bias" tensor=2
            x: float32[2] = input
            q: quint8[2] = TENSOR(self=%x, scale=0.25, zero_point=9, dtype=dtype(quint8))
            wq: qint8[2, 2] = TENSOR(self=%w, scale=0.5, zero_point=0, dtype=dtype(qint8))
            linear_prepack: Custom class="LinearPackedParamsBase" = quantized.linear_prepack.default(W=%wq, B=%b) origin=8
            linear: quint8[2] = quantized.linear.default(X=%q, W_prepack=%linear_prepack, Y_scale_i=0.25, Y_zero_point_i=9) origin=8
            yd: float32[2] = aten.dequantize.self(self=%linear)
            return %yd
        )",
     tensors()},
    {lowering(), "a size is read of the quantized tensor", R"(
            x: float32[?] = input
            q: int8[?] = Q(%x, PARAMS)
            d: float32[?] = DQ(%q, PARAMS)
            n: SymInt = aten.sym_size.int(self=%d, dim=0)
            return %n
        )",
     R"(
            x: float32[?] = input
            q: qint8[?] = TENSOR(self=%x, scale=0.5, zero_point=0, dtype=dtype(qint8))
            n: SymInt = aten.sym_size.int(self=%q, dim=0)
            return %n
        )"},
    {lowering(), "no quantize after it, no kernel", R"(
            x: int8[2] = input
            d: float32[2] = DQ(%x, PARAMS)
            y: float32[2] = aten.relu.default(self=%d)
            return %y
        )",
     ""},
};

/// The whole of the shorter words.
QString spelled(QString text)
{
    text.replace("TENSOR(", "aten.quantize_per_tensor.default(");
    text.replace("UINT8)",
                 "scale=0.25, zero_point=9, quant_min=0, quant_max=127, dtype=dtype(uint8))");
    return withSteps(text);
}

} // namespace

class TestConvertPasses : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void rewrites_data() { addRows(kCases); }
    void rewrites() { compareRow(kCases, spelled); }
};

QTEST_GUILESS_MAIN(TestConvertPasses)
#include "tst_convert_passes.moc"

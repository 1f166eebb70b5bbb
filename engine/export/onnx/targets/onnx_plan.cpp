// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/targets/onnx_plan.h"

#include "engine/export/onnx/onnx_exporter.h"
#include "engine/export/onnx/targets/ort_fusions.h"
#include "engine/export/onnx/targets/tensorrt_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

/// Operators that multiply. They are listed even if nothing is quantized.
const std::set<std::string> kMultiply {"Conv",   "ConvTranspose", "Gemm", "MatMul",
                                       "Einsum", "LSTM",          "GRU",  "RNN"};

bool isStep(const OnnxNode& node)
{
    return node.op == kQuantizeLinear || node.op == kDequantizeLinear;
}

std::string biasOf(const OnnxView& view, const OnnxNode& node)
{
    const bool hasPlace = node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm";
    if (!hasPlace || node.inputs.size() < 3 || node.inputs[2].empty())
        return {};
    const auto maker = view.producer(node.inputs[2]);
    return maker && view.node(*maker).op == kDequantizeLinear ? "int32" : "float";
}

class Planner
{
public:
    Planner(const OnnxView& view, OnnxTarget target, bool calibrated)
        : m_view(view)
        , m_target(target)
        , m_rules(view, calibrated)
    {
    }

    std::optional<OnnxPlanRow> row(const OnnxNode& node) const
    {
        OnnxPlanRow row;
        for (std::size_t i = 0; i < node.inputs.size(); ++i)
            if (!isStep(node) && m_rules.quantizedInput(node, i))
                row.quantizedInputs.push_back(std::int64_t(i));
        if (isStep(node) || (row.quantizedInputs.empty() && !kMultiply.contains(node.op)))
            return std::nullopt;
        row.name = node.name;
        row.onnx = node.op;
        row.node = onnxOrigin(node, "quantscope.node");
        row.op = onnxOrigin(node, "quantscope.op");
        row.module = onnxOrigin(node, "quantscope.module");
        row.bias = biasOf(m_view, node);
        decide(node, row);
        return row;
    }

private:
    void decide(const OnnxNode& node, OnnxPlanRow& row) const
    {
        if (m_target == OnnxTarget::Generic) {
            row.reason = "no runtime is named";
        } else if (m_target == OnnxTarget::OrtCpu) {
            const auto answer = m_rules.answer(node);
            row.kernel = answer ? answer->kernel : std::string();
            row.reason = answer ? answer->reason
                                : "ONNX Runtime's CPU provider has no integer kernel of " + node.op;
        } else if (isTensorRtLayer(node)) {
            TensorRtAnswer answer = tensorRtAnswer(m_view, node);
            row.kernel = std::move(answer.kernel);
            row.reason = std::move(answer.reason);
        } else {
            row.reason = "TensorRT decides by itself whether " + node.op + " runs on integers";
        }
    }

    const OnnxView& m_view;
    OnnxTarget m_target;
    OrtFusions m_rules;
};

} // namespace

std::map<std::string, std::int64_t> OnnxPlan::kernels() const
{
    std::map<std::string, std::int64_t> counts;
    for (const OnnxPlanRow& row : rows)
        if (!row.kernel.empty())
            ++counts[row.kernel];
    return counts;
}

OnnxPlan onnxPlan(const OnnxModel& model, OnnxTarget target, bool calibrated)
{
    OnnxPlan plan;
    plan.target = target;
    plan.opset = model.opset;
    plan.calibrated = calibrated;
    const OnnxView view(model.graph);
    const Planner planner(view, target, calibrated);
    for (const OnnxNode& node : model.graph.nodes)
        if (auto row = planner.row(node))
            plan.rows.push_back(std::move(*row));
    return plan;
}

Result<OnnxPlan> planOnnx(const ConvertedModel& converted, std::int64_t opset, OnnxTarget target)
{
    OnnxOptions options;
    options.opset = opset;
    options.target = target;
    options.calibrated = std::all_of(converted.qparams.begin(), converted.qparams.end(),
                                     [](const auto& entry) { return entry.second.calibrated; });
    QS_TRY(const OnnxModel model, onnxModel(*converted.reference, options));
    return onnxPlan(model, target, options.calibrated);
}

std::string onnxPlanJson(const OnnxPlan& plan)
{
    Json nodes = Json::array();
    for (const OnnxPlanRow& row : plan.rows)
        nodes.push_back({{"name", row.name},
                         {"onnx", row.onnx},
                         {"node", row.node},
                         {"op", row.op},
                         {"module", row.module},
                         {"quantized_inputs", row.quantizedInputs},
                         {"bias", row.bias.empty() ? Json() : Json(row.bias)},
                         {"kernel", row.kernel.empty() ? Json() : Json(row.kernel)},
                         {"reason", row.reason.empty() ? Json() : Json(row.reason)}});
    const Json document {{"format", "quantscope.onnx-plan"},
                         {"target", onnxTargetName(plan.target)},
                         {"opset", plan.opset},
                         {"calibrated", plan.calibrated},
                         {"kernels", plan.kernels()},
                         {"nodes", std::move(nodes)}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace qs

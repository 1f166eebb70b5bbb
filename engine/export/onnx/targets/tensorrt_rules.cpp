// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/targets/tensorrt_rules.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>
#include <vector>

namespace qs {

namespace {

const std::set<std::string> kWeighted {"Conv", "ConvTranspose", "Gemm", "MatMul"};
const std::set<std::string> kOther {"Add", "Mul", "AveragePool", "GlobalAveragePool", "Concat"};

/// The axis of the output channels in the weight of `reader`.
std::int64_t channelAxis(const OnnxNode& reader)
{
    if (reader.op == "ConvTranspose")
        return 1;
    if (reader.op == "MatMul")
        return 1;
    return reader.op == "Gemm" && onnxInteger(reader, "transB", 0) == 0 ? 1 : 0;
}

/// Describes the rule that a step violates; "" if none.
std::string fault(const OnnxView& view, const OnnxNode& node, const OnnxStep& step)
{
    if (!step.isFixed())
        return "parameters computed as the model runs";
    if (step.dtype != DType::Int8)
        return std::string(dtypeName(step.dtype));
    if (step.zeroPoint.count_nonzero().item().toLong() != 0)
        return "int8 with zero point"
            + (step.zeroPoint.numel() == 1 ? " " + std::to_string(step.zeroPoint.item().toLong())
                                           : std::string("s"));
    if (step.scale.dim() == 0)
        return {};
    if (node.op == kQuantizeLinear || !view.tensor(node.inputs[0]).defined())
        return "one scale a channel for a value that is not a weight";
    for (const std::size_t reader : view.readers(node.outputs[0]))
        if (kWeighted.contains(view.node(reader).op) && channelAxis(view.node(reader)) != step.axis)
            return "one scale for each entry of another dimension than the output channels";
    return {};
}

/// The value's name in messages: the node that made it, or the input.
std::string placeOf(const OnnxView& view, const OnnxNode& node)
{
    const auto maker = view.producer(node.inputs[0]);
    if (!maker)
        return node.inputs[0];
    const std::string origin = onnxOrigin(view.node(*maker), "quantscope.node");
    return origin.empty() ? node.inputs[0] : origin;
}

} // namespace

Result<void> checkTensorRt(const OnnxView& view)
{
    std::vector<std::string> faults;
    for (const OnnxNode& node : view.graph().nodes) {
        if (node.op != kQuantizeLinear && node.op != kDequantizeLinear)
            continue;
        // A value is reported only at its quantize step.
        if (node.op == kDequantizeLinear && view.producer(node.inputs[0]))
            continue;
        if (const std::string what = fault(view, node, onnxStep(view, node)); !what.empty())
            faults.push_back("'" + placeOf(view, node) + "' (" + what + ")");
    }
    if (faults.empty())
        return {};
    std::string text;
    for (const std::string& one : faults)
        text += (text.empty() ? "" : ", ") + one;
    return fail(
        makeError(ErrorCode::Unsupported,
                  "TensorRT requires int8 without zero points, and other integers are used at "
                      + text)
            .withHint("set \"backend\": \"tensorrt\" in the recipe, or give these values "
                      "dtype qint8 and qscheme per_tensor_symmetric (weights: "
                      "per_channel_symmetric)"));
}

bool isTensorRtLayer(const OnnxNode& node)
{
    return kWeighted.contains(node.op) || kOther.contains(node.op);
}

TensorRtAnswer tensorRtAnswer(const OnnxView& view, const OnnxNode& node)
{
    const std::size_t inputs = kWeighted.contains(node.op)           ? 2
        : node.op == "AveragePool" || node.op == "GlobalAveragePool" ? 1
                                                                     : node.inputs.size();
    for (std::size_t i = 0; i < inputs; ++i) {
        const auto maker = view.producer(node.inputs[i]);
        if (!maker || view.node(*maker).op != kDequantizeLinear)
            return {{}, "its input " + std::to_string(i + 1) + " is not quantized"};
    }
    return {node.op + " (int8)", {}};
}

} // namespace qs

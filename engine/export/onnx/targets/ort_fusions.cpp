// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/targets/ort_fusions.h"

#include "engine/convert/quantize_weights.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace qs {

namespace {

/// Integer kernels by operator; they require pairs at all data inputs and at the result.
const std::map<std::string, std::string> kPointwise {
    {"Add", "QLinearAdd"},
    {"Mul", "QLinearMul"},
    {"AveragePool", "QLinearAveragePool"},
    {"GlobalAveragePool", "QLinearGlobalAveragePool"},
    {"LeakyRelu", "QLinearLeakyRelu"},
    {"Sigmoid", "QLinearSigmoid"},
    {"Softmax", "QLinearSoftmax"},
    {"Concat", "QLinearConcat"},
    {"Where", "QLinearWhere"}};
/// Operators that run on integers if the pairs around them have equal parameters.
const std::set<std::string> kMoving {"Resize",  "MaxPool", "ReduceMax",      "ReduceMin", "Expand",
                                     "Flatten", "Gather",  "GatherElements", "Reshape",   "Slice",
                                     "Squeeze", "Tile",    "Transpose",      "Unsqueeze"};
/// Operators across which pairs are propagated.
const std::set<std::string> kPassing {"MaxPool", "Reshape",   "Transpose",
                                      "Squeeze", "Unsqueeze", "Slice"};

OrtAnswer none(std::string reason)
{
    return {{}, std::move(reason)};
}

std::string placed(std::size_t input)
{
    return input == 0 ? "its first input"
        : input == 1  ? "its second input"
                      : "its input " + std::to_string(input + 1);
}

} // namespace

const OnnxNode* OrtFusions::dequantizer(const std::string& value) const
{
    std::string at = value;
    for (bool isDirect = true;; isDirect = false) {
        const auto maker = m_view.producer(at);
        if (!maker)
            return nullptr;
        const OnnxNode& node = m_view.node(*maker);
        if (node.op == kDequantizeLinear)
            return isDirect || onnxStep(m_view, node).isPerTensor() ? &node : nullptr;
        if (!kPassing.contains(node.op) || m_view.isOutput(at))
            return nullptr;
        at = node.inputs.at(0);
    }
}

std::optional<OnnxStep> OrtFusions::quantizedInput(const OnnxNode& node, std::size_t input) const
{
    if (input >= node.inputs.size() || node.inputs[input].empty())
        return std::nullopt;
    const OnnxNode* found = dequantizer(node.inputs[input]);
    return found ? std::optional(onnxStep(m_view, *found)) : std::nullopt;
}

bool OrtFusions::isNeedless(const OnnxNode& clip, const OnnxStep& step) const
{
    if (!step.isPerTensor())
        return false;
    const auto codes = onnxClipCodes(m_view, clip, step);
    if (!codes || !m_calibrated)
        return codes.has_value();
    const QuantRange range = storageRange(step.dtype);
    return codes->first <= double(range.min) && codes->second >= double(range.max);
}

OrtFusions::After OrtFusions::after(const OnnxNode& node) const
{
    const auto only = [this](const std::string& value) -> const OnnxNode* {
        const auto& readers = m_view.readers(value);
        return readers.size() == 1 && !m_view.isOutput(value) ? &m_view.node(readers[0]) : nullptr;
    };
    After found;
    std::string value = node.outputs.at(0);
    const OnnxNode* next = only(value);
    const OnnxNode* clip = nullptr;
    if (next && (next->op == "Relu" || next->op == "Clip") && only(next->outputs[0])) {
        clip = next;
        value = next->outputs[0];
        next = only(value);
    }
    while (next && kPassing.contains(next->op) && next->inputs[0] == value) {
        value = next->outputs[0];
        next = only(value);
    }
    if (next && next->op == kQuantizeLinear) {
        found.step = onnxStep(m_view, *next);
        if (clip && !isNeedless(*clip, *found.step))
            found.stays = clip;
        return found;
    }
    found.stays = clip;
    found.reason = m_view.isOutput(value) ? "its result is an output of the model"
        : !next                           ? "its result is read in float by several operators"
                                          : "its result is read in float by '" + next->name + "'";
    return found;
}

std::optional<OrtAnswer> OrtFusions::answer(const OnnxNode& node, bool biasIsStored) const
{
    if (node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul")
        return weighted(node, biasIsStored);
    if (const auto it = kPointwise.find(node.op); it != kPointwise.end())
        return pointwise(node, it->second);
    if (node.op == "Split")
        return split(node);
    if (kMoving.contains(node.op))
        return moved(node);
    if (node.op == "ArgMax") {
        const auto step = quantizedInput(node, 0);
        return step && step->isPerTensor() && isByte(step->dtype)
            ? OrtAnswer {"ArgMax (integers)", {}}
            : none("its input is not quantized");
    }
    return std::nullopt;
}

OrtAnswer OrtFusions::weighted(const OnnxNode& node, bool biasIsStored) const
{
    const auto x = quantizedInput(node, 0), w = quantizedInput(node, 1);
    for (const auto& [step, input] : {std::pair {&x, 0}, std::pair {&w, 1}}) {
        if (!*step)
            return none(placed(std::size_t(input)) + " is not quantized");
        if (!isByte((*step)->dtype) || (*step)->block)
            return none(placed(std::size_t(input)) + " is not an 8-bit integer");
    }
    if (x->scale.defined() && x->scale.dim() != 0)
        return none("its first input has one scale a channel");
    if (x->dtype == DType::Int8 && w->dtype != DType::Int8)
        return none("signed values do not go with an unsigned weight");
    const bool hasBias = node.inputs.size() > 2 && !node.inputs[2].empty();
    const auto bias = quantizedInput(node, 2);
    if (hasBias && !biasIsStored && (!bias || bias->dtype != DType::Int32))
        return none("its bias is not stored as int32");
    const After result = after(node);
    if (result.stays)
        return none(
            "'" + result.stays->name
            + "' after it cuts more than the integers after that do: their range must start "
              "where it cuts (for a relu: an affine range)");
    if (result.step && result.step->dtype != x->dtype)
        return none("its result has integers of another type than its input");
    if (node.op == "Conv")
        return result.step ? OrtAnswer {"QLinearConv", {}} : none(result.reason);
    if (node.op == "Gemm")
        return {"QGemm", {}};
    return {result.step ? "QLinearMatMul" : "MatMulIntegerToFloat", {}};
}

OrtAnswer OrtFusions::pointwise(const OnnxNode& node, const std::string& kernel) const
{
    DType dtype = DType::Unknown;
    const std::size_t first = node.op == "Where" ? 1 : 0;
    const bool isUnary = node.op != "Add" && node.op != "Mul" && first == 0 && node.op != "Concat";
    const std::size_t last = isUnary ? 1 : node.inputs.size();
    for (std::size_t i = first; i < last; ++i) {
        const auto step = quantizedInput(node, i);
        if (!step)
            return none(placed(i) + " is not quantized");
        if (!isByte(step->dtype) || (dtype != DType::Unknown && dtype != step->dtype))
            return none("its inputs are not 8-bit integers of one type");
        dtype = step->dtype;
    }
    const After result = after(node);
    if (result.stays)
        return none("'" + result.stays->name
                    + "' after it cuts more than the integers after that do");
    if (!result.step)
        return none(result.reason);
    if (result.step->dtype != dtype)
        return none("its result has integers of another type than its input");
    return {kernel, {}};
}

OrtAnswer OrtFusions::moved(const OnnxNode& node) const
{
    const auto step = quantizedInput(node, 0);
    if (!step)
        return none("its input is not quantized");
    if (!step->isPerTensor() || !isByte(step->dtype))
        return none("its input is not an 8-bit integer with one scale");
    const After result = after(node);
    const auto& readers = m_view.readers(node.outputs[0]);
    const bool isQuantized = std::any_of(readers.begin(), readers.end(), [this](std::size_t at) {
        return m_view.node(at).op == kQuantizeLinear;
    });
    if (!result.step && kPassing.contains(node.op) && !isQuantized
        && !(m_view.isOutput(node.outputs[0]) && !readers.empty()))
        return {node.op + " (integers)", {}};
    if (!result.step || result.stays)
        return none(result.step ? "'" + result.stays->name + "' after it" : result.reason);
    if (!(*result.step == *step))
        return none("its result has other parameters than its input");
    return {node.op + " (integers)", {}};
}

OrtAnswer OrtFusions::split(const OnnxNode& node) const
{
    const auto step = quantizedInput(node, 0);
    if (!step || !step->isPerTensor())
        return none("its input is not quantized");
    for (const std::string& output : node.outputs) {
        const auto& readers = m_view.readers(output);
        const OnnxNode* next = readers.size() == 1 ? &m_view.node(readers[0]) : nullptr;
        if (!next || next->op != kQuantizeLinear || !(onnxStep(m_view, *next) == *step))
            return none("not all its results have the parameters of its input");
    }
    return {"Split (integers)", {}};
}

} // namespace qs

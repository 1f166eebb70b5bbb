// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/targets/place_for_ort.h"

#include "engine/export/onnx/targets/ort_fusions.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace qs {

namespace {

/// Makes names that are not used in the graph.
class FreshNames
{
public:
    explicit FreshNames(const OnnxGraph& graph)
    {
        for (const OnnxNode& node : graph.nodes) {
            m_taken.insert(node.name);
            m_taken.insert(node.outputs.begin(), node.outputs.end());
        }
        for (const OnnxTensor& tensor : graph.initializers)
            m_taken.insert(tensor.name);
        for (const OnnxValue& input : graph.inputs)
            m_taken.insert(input.name);
    }

    std::string operator()(const std::string& wanted)
    {
        std::string name = wanted;
        for (int i = 1; !m_taken.insert(name).second; ++i)
            name = wanted + "_" + std::to_string(i);
        return name;
    }

private:
    std::unordered_set<std::string> m_taken;
};

/// A bound of real values as an integer, rounded like QuantizeLinear but without saturation.
std::optional<at::Tensor> onGrid(const OnnxView& view, const std::string& bound,
                                 const OnnxStep& step)
{
    const at::Tensor real = view.tensor(bound);
    if (!real.defined() || !step.isPerTensor())
        return std::nullopt;
    const at::Tensor code
        = at::round(real.to(at::kFloat) / step.scale) + step.zeroPoint.to(at::kFloat);
    return code.to(step.zeroPoint.scalar_type());
}

/// Whether a step has 8-bit integers: all runtimes have Clip for these, but not for 16-bit ones.
bool isOfBytes(const OnnxStep& step)
{
    const auto type = step.zeroPoint.defined() ? step.zeroPoint.scalar_type() : at::kFloat;
    return type == at::kByte || type == at::kChar;
}

/// Clip, QuantizeLinear ► QuantizeLinear, Clip of integers, which keeps the name of the result.
void cutBytes(OnnxGraph& graph, FreshNames& names)
{
    std::vector<OnnxNode> added; ///< inserted at the positions `at`
    std::vector<std::size_t> at;
    std::unordered_set<std::size_t> gone;
    {
        const OnnxView view(graph);
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            OnnxNode& quantize = graph.nodes[i];
            const auto maker
                = quantize.op == kQuantizeLinear ? view.producer(quantize.inputs[0]) : std::nullopt;
            if (!maker)
                continue;
            const OnnxNode& clip = view.node(*maker);
            // Only a Clip that was exported together with this step.
            if (clip.op != "Clip" || clip.inputs.size() < 3
                || onnxOrigin(clip, "quantscope.node") != onnxOrigin(quantize, "quantscope.node")
                || view.readers(clip.outputs[0]).size() != 1)
                continue;
            const OnnxStep step = onnxStep(view, quantize);
            const auto low = onGrid(view, clip.inputs[1], step);
            const auto high = onGrid(view, clip.inputs[2], step);
            if (!low || !high || !isOfBytes(step))
                continue;
            OnnxNode cut = clip;
            const std::string result = quantize.outputs[0];
            const std::string whole = names(result + "/whole");
            cut.name = result;
            cut.outputs = {result};
            cut.inputs = {whole, names(result + "/low"), names(result + "/high")};
            graph.initializers.push_back({cut.inputs[1], *low});
            graph.initializers.push_back({cut.inputs[2], *high});
            quantize.name = names(result + "/" + kQuantizeLinear);
            quantize.inputs[0] = clip.inputs[0];
            quantize.outputs[0] = whole;
            gone.insert(*maker);
            at.push_back(i + 1);
            added.push_back(std::move(cut));
        }
    }
    std::vector<OnnxNode> nodes;
    std::size_t next = 0;
    for (std::size_t i = 0; i <= graph.nodes.size(); ++i) {
        for (; next < at.size() && at[next] == i; ++next)
            nodes.push_back(std::move(added[next]));
        if (i < graph.nodes.size() && !gone.contains(i))
            nodes.push_back(std::move(graph.nodes[i]));
    }
    graph.nodes = std::move(nodes);
}

struct StoredBias
{
    at::Tensor integers, scale;
};

/// The bias as one integer per channel with the scale of the sums; empty if int32 cannot hold it.
std::optional<StoredBias> storedBias(const at::Tensor& bias, const OnnxStep& x, const OnnxStep& w)
{
    if (!x.isPerTensor() || !w.isFixed() || bias.dim() != 1 || !bias.is_floating_point()
        || (w.scale.dim() == 1 && w.scale.numel() != bias.numel()) || w.scale.dim() > 1)
        return std::nullopt;
    const at::Tensor scale = x.scale * w.scale;
    const at::Tensor codes = at::round(bias.to(at::kDouble) / scale.to(at::kDouble));
    constexpr double kLargest = std::numeric_limits<std::int32_t>::max();
    if (!at::isfinite(codes).all().item().toBool()
        || codes.abs().max().item().toDouble() > kLargest)
        return std::nullopt;
    return StoredBias {codes.to(at::kInt), scale};
}

/// A Clip that the later Clip of the integers makes redundant, or null. ONNX Runtime itself removes
/// a Clip that the range of the integer type makes redundant, but does not consider a later Clip.
const OnnxNode* needlessClip(const OnnxView& view, const OnnxNode& quantize)
{
    const auto maker = view.producer(quantize.inputs[0]);
    if (!maker)
        return nullptr;
    const OnnxNode& clip = view.node(*maker);
    const auto& next = view.readers(quantize.outputs[0]);
    if ((clip.op != "Clip" && clip.op != "Relu") || view.isOutput(clip.outputs[0])
        || view.readers(clip.outputs[0]).size() != 1 || next.size() != 1)
        return nullptr;
    const OnnxNode& cut = view.node(next[0]);
    const OnnxStep step = onnxStep(view, quantize);
    if (cut.op != "Clip" || cut.inputs[0] != quantize.outputs[0] || !step.isPerTensor())
        return nullptr;
    const auto codes = onnxClipCodes(view, clip, step);
    const at::Tensor least = view.tensor(cut.inputs[1]), most = view.tensor(cut.inputs[2]);
    if (!codes || !least.defined() || !most.defined())
        return nullptr;
    const bool isNeedless
        = codes->first <= least.item().toDouble() && codes->second >= most.item().toDouble();
    return isNeedless ? &clip : nullptr;
}

void dropNeedlessClips(OnnxGraph& graph)
{
    std::unordered_set<std::string> gone;
    std::vector<std::pair<std::size_t, std::string>> rewired;
    {
        const OnnxView view(graph);
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            if (graph.nodes[i].op != kQuantizeLinear)
                continue;
            if (const OnnxNode* clip = needlessClip(view, graph.nodes[i])) {
                rewired.emplace_back(i, clip->inputs[0]);
                gone.insert(clip->outputs[0]);
            }
        }
    }
    for (const auto& [node, value] : rewired)
        graph.nodes[node].inputs[0] = value;
    std::erase_if(graph.nodes, [&](const OnnxNode& node) {
        return !node.outputs.empty() && gone.contains(node.outputs[0]);
    });
}

void storeBiases(OnnxGraph& graph, FreshNames& names, bool calibrated)
{
    std::vector<OnnxNode> nodes;
    std::vector<OnnxTensor> tensors;
    {
        const OnnxView view(graph);
        const OrtFusions rules(view, calibrated);
        for (const OnnxNode& node : graph.nodes) {
            OnnxNode placed = node;
            const bool isSum = node.op == "Conv" || node.op == "Gemm";
            const at::Tensor bias
                = isSum && node.inputs.size() > 2 ? view.tensor(node.inputs[2]) : at::Tensor();
            const auto kernel = bias.defined() ? rules.answer(node, true) : std::nullopt;
            const auto stored = kernel && !kernel->kernel.empty()
                ? storedBias(bias, *rules.quantizedInput(node, 0), *rules.quantizedInput(node, 1))
                : std::nullopt;
            if (stored) {
                OnnxNode step;
                const std::string& was = node.inputs[2];
                step.op = kDequantizeLinear;
                step.inputs = {names(was + "_int32"), names(was + "_scale")};
                step.outputs = {names(was + "_dequantized")};
                step.name = step.outputs[0];
                step.metadata = node.metadata;
                step.attributes = {{"axis", 0}};
                tensors.push_back({step.inputs[0], stored->integers.contiguous()});
                tensors.push_back({step.inputs[1], stored->scale.contiguous()});
                placed.inputs[2] = step.outputs[0];
                nodes.push_back(std::move(step));
            }
            nodes.push_back(std::move(placed));
        }
    }
    graph.nodes = std::move(nodes);
    std::move(tensors.begin(), tensors.end(), std::back_inserter(graph.initializers));
}

/// Removes initializers without readers.
void dropUnread(OnnxGraph& graph)
{
    std::unordered_set<std::string> unread;
    {
        const OnnxView view(graph);
        for (const OnnxTensor& tensor : graph.initializers)
            if (view.readers(tensor.name).empty() && !view.isOutput(tensor.name))
                unread.insert(tensor.name);
    }
    std::erase_if(graph.initializers,
                  [&](const OnnxTensor& tensor) { return unread.contains(tensor.name); });
}

} // namespace

Result<void> cutBytes(OnnxGraph& graph, const JobContext& job)
{
    QS_CHECK(job.check());
    FreshNames names(graph);
    cutBytes(graph, names);
    QS_CHECK(job.check());
    dropUnread(graph);
    return job.check();
}

Result<void> placeForOrt(OnnxGraph& graph, bool calibrated, const JobContext& job)
{
    FreshNames names(graph);
    dropNeedlessClips(graph);
    QS_CHECK(job.check());
    storeBiases(graph, names, calibrated);
    QS_CHECK(job.check());
    dropUnread(graph);
    return {};
}

} // namespace qs

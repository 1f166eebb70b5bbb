// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/targets/onnx_view.h"

#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// Calls `read` for every value that a graph or one of its bodies reads.
template<class Read>
void forEachRead(const OnnxGraph& graph, std::size_t outermost, bool inside, const Read& read)
{
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const std::size_t at = inside ? outermost : i;
        for (const std::string& input : graph.nodes[i].inputs)
            read(input, at);
        for (const OnnxAttribute& attribute : graph.nodes[i].attributes)
            if (const auto* body = std::get_if<std::shared_ptr<const OnnxGraph>>(&attribute.value))
                forEachRead(**body, at, true, read);
    }
    if (inside)
        for (const OnnxValue& output : graph.outputs)
            read(output.name, outermost);
}

} // namespace

OnnxView::OnnxView(const OnnxGraph& graph)
    : m_graph(graph)
{
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        for (const std::string& output : graph.nodes[i].outputs)
            m_producers[output] = i;
    forEachRead(graph, 0, false, [this](const std::string& value, std::size_t at) {
        if (!value.empty())
            m_readers[value].push_back(at);
    });
    for (std::size_t i = 0; i < graph.initializers.size(); ++i)
        m_tensors[graph.initializers[i].name] = i;
}

std::optional<std::size_t> OnnxView::producer(const std::string& value) const
{
    const auto it = m_producers.find(value);
    return it == m_producers.end() ? std::nullopt : std::optional(it->second);
}

const std::vector<std::size_t>& OnnxView::readers(const std::string& value) const
{
    static const std::vector<std::size_t> nobody;
    const auto it = m_readers.find(value);
    return it == m_readers.end() ? nobody : it->second;
}

bool OnnxView::isOutput(const std::string& value) const
{
    return std::any_of(m_graph.outputs.begin(), m_graph.outputs.end(),
                       [&](const OnnxValue& output) { return output.name == value; });
}

at::Tensor OnnxView::tensor(const std::string& value) const
{
    const auto it = m_tensors.find(value);
    return it == m_tensors.end() ? at::Tensor() : m_graph.initializers[it->second].data;
}

std::string onnxOrigin(const OnnxNode& node, const char* key)
{
    for (const auto& [name, value] : node.metadata)
        if (name == key)
            return value;
    return {};
}

std::int64_t onnxInteger(const OnnxNode& node, const std::string& name, std::int64_t otherwise)
{
    for (const OnnxAttribute& attribute : node.attributes)
        if (const auto* value = std::get_if<std::int64_t>(&attribute.value);
            value && attribute.name == name)
            return *value;
    return otherwise;
}

bool operator==(const OnnxStep& a, const OnnxStep& b)
{
    return a.isFixed() && b.isFixed() && a.dtype == b.dtype && a.scale.equal(b.scale)
        && a.zeroPoint.equal(b.zeroPoint);
}

OnnxStep onnxStep(const OnnxView& view, const OnnxNode& node)
{
    OnnxStep step;
    step.scale = view.tensor(node.inputs.at(1));
    step.axis = onnxInteger(node, "axis", 1);
    step.block = onnxInteger(node, "block_size", 0);
    if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
        step.zeroPoint = view.tensor(node.inputs[2]);
        if (step.zeroPoint.defined())
            step.dtype = fromScalarType(step.zeroPoint.scalar_type());
    } else if (node.op == kDequantizeLinear) {
        if (const at::Tensor stored = view.tensor(node.inputs[0]); stored.defined())
            step.dtype = fromScalarType(stored.scalar_type());
    }
    return step;
}

std::optional<std::pair<double, double>> onnxClipCodes(const OnnxView& view, const OnnxNode& clip,
                                                       const OnnxStep& step)
{
    const double scale = step.scale.item().toDouble();
    const auto point = double(step.zeroPoint.item().toLong());
    if (clip.op == "Relu")
        return std::pair(point, double(INFINITY));
    const auto code = [&](std::size_t input, double open) -> std::optional<double> {
        if (input >= clip.inputs.size() || clip.inputs[input].empty())
            return open;
        const at::Tensor stored = view.tensor(clip.inputs[input]);
        if (!stored.defined())
            return std::nullopt;
        return std::rint(stored.item().toDouble() / scale) + point;
    };
    const auto low = code(1, -INFINITY), high = code(2, INFINITY);
    return low && high ? std::optional(std::pair(*low, *high)) : std::nullopt;
}

} // namespace qs

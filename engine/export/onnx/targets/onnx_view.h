// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/onnx_model.h"

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// Producers and consumers of the values of an ONNX graph. Nodes are given by position. Borrows the
/// graph, which must not change while the view exists.
class OnnxView
{
public:
    explicit OnnxView(const OnnxGraph& graph);

    const OnnxGraph& graph() const { return m_graph; }
    const OnnxNode& node(std::size_t index) const { return m_graph.nodes[index]; }
    /// Position of the node that produces a value; empty for inputs and stored tensors.
    std::optional<std::size_t> producer(const std::string& value) const;
    /// Positions of a value's readers, one entry for each input that reads it. For a reader in a
    /// body: the position of the node that holds the body.
    const std::vector<std::size_t>& readers(const std::string& value) const;
    /// True if the value is an output of the graph.
    bool isOutput(const std::string& value) const;
    /// The stored tensor of that name; undefined if not stored.
    at::Tensor tensor(const std::string& value) const;

private:
    const OnnxGraph& m_graph;
    std::unordered_map<std::string, std::size_t> m_producers;
    std::unordered_map<std::string, std::vector<std::size_t>> m_readers;
    std::unordered_map<std::string, std::size_t> m_tensors;
};

/// An entry of a node's metadata ("quantscope.node"), "" if it is missing.
std::string onnxOrigin(const OnnxNode& node, const char* key);
/// An integer attribute; `otherwise` if it is missing.
std::int64_t onnxInteger(const OnnxNode& node, const std::string& name, std::int64_t otherwise);

/// Scale and zero point of a QuantizeLinear or DequantizeLinear, if they are stored.
struct OnnxStep
{
    at::Tensor scale, zeroPoint; ///< undefined if computed
    DType dtype = DType::Unknown; ///< of the integers; Unknown if not declared
    std::int64_t axis = 1, block = 0;

    bool isFixed() const { return scale.defined() && zeroPoint.defined(); }
    /// One scale for all values.
    bool isPerTensor() const { return isFixed() && scale.dim() == 0; }
    friend bool operator==(const OnnxStep& a, const OnnxStep& b);
};
OnnxStep onnxStep(const OnnxView& view, const OnnxNode& node);

/// The bounds of a Relu or Clip as integers of a step with one scale; infinite without a bound.
/// Nothing if a bound is computed.
std::optional<std::pair<double, double>> onnxClipCodes(const OnnxView& view, const OnnxNode& clip,
                                                       const OnnxStep& step);

inline constexpr const char* kQuantizeLinear = "QuantizeLinear";
inline constexpr const char* kDequantizeLinear = "DequantizeLinear";

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/code/code_printer.h"

namespace qs {

/// One future line of `forward`: the call and the nodes that it represents.
struct CodeStatement
{
    enum class Kind
    {
        Attribute, ///< a parameter or constant is read: `weight = self.weight`
        WeightObserver, ///< an observer sees the attribute read just before
        PackedWeight, ///< a packed weight: `_packed_weight_0 = self._packed_weight_0`
        Module, ///< `conv = self.conv(x)`
        Function, ///< `add = torch.ops.aten.add.Tensor(a, b)`
        Return
    };
    Kind kind = Kind::Function;
    std::vector<const Node*> nodes; ///< in graph order; one, but for modules
    const Node* root = nullptr; ///< the first of them that computes on activations
    int fusion = -1; ///< index into CodeContext::fusions
    bool quantizedWeight = false; ///< Module: its weight passes a quantize
    const Node* reader = nullptr; ///< of what stands here because an operator needs it stored
    const Node& result() const { return *nodes.back(); }
    /// The module that is called, or the one whose forward has the statement.
    const std::string& path() const { return root->scope.path; }
};

/// torch.ao's function that chooses parameters and quantizes with them.
inline constexpr std::string_view kDynamicQuantize = "quantize_per_tensor_dynamic";

/// True for the argument that holds the scale (the zero point) of a quantize node or kernel.
bool isScale(std::string_view argument);
bool isZeroPoint(std::string_view argument);
/// Quantize, dequantize, the choice of their parameters, or an observer.
bool isQuantizing(const Node& node);
bool isQuantize(const Node& node);
/// An observer, or the stub that stands for one inside a custom module.
bool isObserver(const Node& node);
/// True for torch.ao's DeQuantStub: its value leaves a custom module quantized.
bool isDequantStub(const Node& node);
/// The float node that `node` came from, or is.
NodeId floatNodeOf(const Node& node);

/// The statements of a graph in order. Nodes that a module's forward computes from its parameters
/// alone belong to its call; stored values that a function needs come just before it.
std::vector<CodeStatement> codeStatements(const Graph& graph, const CodeContext& context);

} // namespace qs

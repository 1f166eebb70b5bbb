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
    std::vector<const Node*> nodes; ///< in graph order; exactly one unless `kind` is Module
    const Node* root = nullptr; ///< the first of them that computes on activations
    int fusion = -1; ///< index into CodeContext::fusions
    bool quantizedWeight = false; ///< Module: its weight is quantized
    const Node* reader = nullptr; ///< of a stored value: the operator that needs it
    const Node& result() const { return *nodes.back(); }
    /// The called module, or the module whose forward contains the statement.
    const std::string& path() const { return root->scope.path; }
};

/// torch.ao's function that chooses quantization parameters and quantizes in one call.
inline constexpr std::string_view kDynamicQuantize = "quantize_per_tensor_dynamic";

/// True for the argument that holds the scale (the zero point) of a quantize node or kernel.
bool isScale(std::string_view argument);
bool isZeroPoint(std::string_view argument);
/// True for quantize, dequantize, the choice of their parameters, or an observer.
bool isQuantizing(const Node& node);
bool isQuantize(const Node& node);
/// True for an observer, or for the stub that replaces one inside a custom module.
bool isObserver(const Node& node);
/// True for torch.ao's DeQuantStub: its value leaves a custom module quantized.
bool isDequantStub(const Node& node);
/// Returns the float node that `node` was made from; `node` itself if it is a float node.
NodeId floatNodeOf(const Node& node);

/// The statements of a graph in order. Nodes that compute a module's weights from its parameters
/// belong to the module's call. Stored values that a function reads come just before it.
std::vector<CodeStatement> codeStatements(const Graph& graph, const CodeContext& context);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// Operators that torch.ao makes one module: a convolution with its relu, a folded batch norm.
struct CodeFusion
{
    std::vector<NodeId> members; ///< float nodes in forward order; the first one's module stays
    std::string moduleClass; ///< "torch.ao.nn.intrinsic.ConvReLU2d"; empty: the first one's class
};

/// Facts that a graph made from a float graph does not hold. Borrows the graphs.
struct CodeContext
{
    const Graph* model = nullptr; ///< the float graph; null when the printed graph is it
    const Graph* reference = nullptr; ///< for a lowered graph: the form its parameters are named in
    std::vector<CodeFusion> fusions;
    /// Last to first operator of each matched pattern: a kernel with a packed weight keeps the name
    /// of the first.
    std::unordered_map<NodeId, NodeId> roots;
    /// Float nodes without a qconfig: an observer there is named after its reader, "_input".
    std::unordered_set<NodeId> withoutQConfig;
    /// Float nodes whose own value torch.ao observes; elsewhere the reader's turn comes first.
    std::unordered_set<NodeId> quantized;
    /// In a prepared graph, weights that functions read and what observes them: torch.ao observes
    /// those in the graph, where a module observes its own when it is converted.
    std::unordered_map<ValueRef, ObserverId> observedWeights;
    /// Classes of extension packs whose modules are called as a whole, as torch.nn's are.
    std::unordered_set<std::string> leafClasses;
    /// "HistogramObserver()", for the module list of a prepared graph.
    std::function<std::string(ObserverId)> observerText;
    bool values = false; ///< quantized modules show their scale and zero point
};

/// One line and the float nodes that it represents; empty for headings.
struct CodeLine
{
    std::string text;
    std::vector<NodeId> nodes;
};

/// The graph as `print(graph_module)` of torch.fx shows it: the modules that are called, then
/// `forward` with one statement a line. An operator that is the whole forward of a torch.nn module
/// (with its weights, their quantization and packing) is a call of that module. Names are
/// torch.fx's
/// (`layer1_0_conv1`, `add_1`); scales and zero points are attributes under torch.ao's names
/// (`conv1_input_scale_0`, `conv1_zero_point_0`, `_scale_0`). Source: torch.fx.Graph.python_code,
/// torch.ao.quantization.fx.convert.
std::vector<CodeLine> codeLines(const Graph& graph, const CodeContext& context = {});

/// The lines in one text, each ended by a newline.
std::string printCode(const Graph& graph, const CodeContext& context = {});

} // namespace qs

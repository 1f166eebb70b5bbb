// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// Operators that torch.ao fuses into one module: a convolution with its relu or a folded batch
/// norm.
struct CodeFusion
{
    std::vector<NodeId> members; ///< float nodes in forward order; the module of the first is kept
    std::string moduleClass; ///< "torch.ao.nn.intrinsic.ConvReLU2d"; empty: the class of the first
};

/// A module in training: torch.ao's class with its fake quantizer of the weight.
struct CodeTrainedModule
{
    std::string moduleClass; ///< "torch.ao.nn.intrinsic.qat.ConvBnReLU2d"
    ObserverId weight;
};

/// Facts about a prepared or converted graph that the graph itself does not store. Borrows the
/// graphs.
struct CodeContext
{
    const Graph* model = nullptr; ///< the float graph; null if the float graph itself is printed
    /// For a lowered graph: the reference form, which names its parameters.
    const Graph* reference = nullptr;
    std::vector<CodeFusion> fusions;
    /// Maps the last operator of each matched pattern to its first: a kernel with a packed weight
    /// keeps the first operator's name.
    std::unordered_map<NodeId, NodeId> roots;
    /// Float nodes without a qconfig: an observer of their output is named after its consumer,
    /// "_input".
    std::unordered_set<NodeId> withoutQConfig;
    /// Float nodes whose output torch.ao observes when it visits them; other outputs are observed
    /// when it visits the consumer.
    std::unordered_set<NodeId> quantized;
    /// In a prepared graph: weights read by functions, with their observers. torch.ao observes
    /// these in the graph; a module's weight is observed when the module is converted.
    std::unordered_map<ValueRef, ObserverId> observedWeights;
    /// In a graph prepared for training: modules by their first operator.
    std::unordered_map<NodeId, CodeTrainedModule> trained;
    /// Classes of extension packs whose modules are leaf modules, as those of torch.nn are.
    std::unordered_set<std::string> leafClasses;
    /// "HistogramObserver()", for the module list of a prepared graph.
    std::function<std::string(ObserverId)> observerText;
    bool values = false; ///< quantized modules show their scale and zero point
};

/// One line of code and the float nodes that it represents (none for headings).
struct CodeLine
{
    std::string text;
    std::vector<NodeId> nodes;
};

/// The graph as `print(graph_module)` of torch.fx shows it: the modules that are called, then
/// `forward` with one statement per line. An operator that is the entire forward of a torch.nn
/// module (with its weights, their quantization and packing) is printed as a call of that module.
/// Names are torch.fx's (`layer1_0_conv1`, `add_1`); scales and zero points are attributes under
/// torch.ao's names (`conv1_input_scale_0`, `conv1_zero_point_0`, `_scale_0`). Source:
/// torch.fx.Graph.python_code, torch.ao.quantization.fx.convert.
std::vector<CodeLine> codeLines(const Graph& graph, const CodeContext& context = {});

/// Returns the lines as one text; each ends with a newline.
std::string printCode(const Graph& graph, const CodeContext& context = {});

} // namespace qs

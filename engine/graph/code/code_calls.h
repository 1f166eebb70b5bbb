// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/code/code_printer.h"

#include <string>
#include <unordered_map>

namespace qs {

/// The names of scale and zero point of one quantize node.
struct ParameterNames
{
    std::string scale, zeroPoint;
};

/// Names of a converted model's parts in its printed code, for files that keep those names.
struct CodeCalls
{
    struct Module
    {
        std::string path; ///< "layer1.0.conv1"
        std::string className; ///< "QuantizedConvReLU2d", "torch.nn.MaxPool2d"
    };
    /// Kernels and weightless operators that make up the entire forward of a module.
    std::unordered_map<NodeId, Module> modules;
    /// Modules with several results; they hold only packed weights. Key: the prepack node.
    std::unordered_map<NodeId, Module> holders;
    /// Scale and zero point of the remaining nodes: attributes of the root module.
    std::unordered_map<NodeId, ParameterNames> parameters;
    std::unordered_map<NodeId, std::string> packedWeights; ///< of functions; key: the prepack node
};

/// Returns the names that `codeLines` prints.
CodeCalls codeCalls(const Graph& graph, const CodeContext& context);

} // namespace qs

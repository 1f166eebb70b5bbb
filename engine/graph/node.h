// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

class Graph;

enum class NodeKind : std::uint8_t
{
    Input, ///< a user input of the model
    Parameter, ///< a trained tensor or a buffer; `tensor` is its id in StoredTensors
    Constant, ///< any other tensor or object of the file, also in StoredTensors
    Op, ///< a call of a dispatcher operator
    ModuleCall, ///< a custom module kept whole
    Output ///< the return: its arguments are the model's outputs; exactly one, last
};

/// One level of the module hierarchy a node came from.
struct Scope
{
    std::string path; ///< dotted module path without call suffix: "layer1.0.relu"; "" is the root
    std::string moduleClass; ///< as PyTorch's users write it: "torch.nn.ReLU"
    int callIndex = 0; ///< which call of that module this is, from 0
    friend bool operator==(const Scope&, const Scope&) = default;
};

struct SourceLocation
{
    std::string file;
    int line = 0;
    std::string function;
    std::string code; ///< the source line, trimmed
    friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

/// One node. Immutable once in a Graph; shared between snapshots.
struct Node
{
    NodeId id;
    NodeKind kind = NodeKind::Op;
    std::string name; ///< FX style, unique in the graph
    std::string target; ///< Op: "aten.conv2d.default"; Parameter/Constant: its dotted path; Input:
                        ///< the argument's name
    std::vector<NamedArgument> args; ///< in schema order
    std::vector<Value> outputs;

    Scope scope; ///< the innermost module
    SourceLocation source; ///< innermost frame outside torch, if the file has it
    NodeId origin; ///< the float node this one came from; none in a float graph
    std::string originalTarget; ///< the file's target if import changed it ("aten.relu_.default");
                                ///< else empty
    std::string torchFn; ///< the file's `torch_fn` metadata ("function.relu"), or empty
    TensorId tensor; ///< Parameter and Constant only
    /// Hash of the tensor by which an edit replaced the file's; else empty.
    std::string tensorSha256;
    bool persistentBuffer = false; ///< Parameter: it is a buffer, saved in the state dict
    bool isBuffer = false; ///< Parameter: a buffer rather than a trained parameter
    ObserverId observer; ///< an observer node of a prepared graph ("quantscope.observe")
    std::string opaqueReason; ///< if not empty: why this node is not read or quantized
    std::vector<std::shared_ptr<const Graph>>
        subgraphs; ///< of higher-order operators, in argument order
    std::vector<std::string>
        argumentStrings; ///< of an opaque node: its arguments as the file spells them

    const Argument* tryArg(std::string_view argName) const;
    /// The argument at a schema position; null when absent.
    const Argument* tryArg(std::size_t position) const;
    bool isOp(std::string_view wanted) const { return kind == NodeKind::Op && target == wanted; }
    /// True for a call of an operator or of a custom module.
    bool isOperator() const { return kind == NodeKind::Op || kind == NodeKind::ModuleCall; }
    /// True for a node that holds a tensor or object of the file.
    bool isStored() const { return kind == NodeKind::Parameter || kind == NodeKind::Constant; }
};

using NodePtr = std::shared_ptr<const Node>;

} // namespace qs

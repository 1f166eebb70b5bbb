// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/interpreter.h"
#include "engine/export/onnx/onnx_model.h"
#include "engine/export/onnx/onnx_names.h"
#include "engine/export/onnx/onnx_target.h"
#include "engine/graph/graph.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

class OnnxCall;
using OnnxHandler = void (*)(OnnxCall&);

/// Converts the nodes of one graph to ONNX nodes with the handlers of `onnx_handlers.h`. Values
/// that depend only on parameters and constants become initializers; stored integers remain
/// integers, followed by a DequantizeLinear. Sizes are emitted only if they are read. Use each
/// object once, on one thread; the names must outlive it.
class OnnxBuilder
{
public:
    OnnxBuilder(GraphPtr graph, Interpreter interpreter, OnnxNames& names, std::int64_t opset,
                OnnxTarget target = OnnxTarget::Generic);

    const Graph& graph() const { return *m_graph; }
    std::int64_t opset() const { return m_opset; }
    OnnxTarget target() const { return m_target; }
    OnnxNames& names() { return m_names; }

    /// Names an input of the graph. An input of a body may be a value of the outer graph.
    void bind(ValueRef ref, std::string name) { m_values[ref] = std::move(name); }
    /// Emits every node that an output needs. Errors: a node without an ONNX form (Unsupported,
    /// names node and module); Cancelled.
    Result<void> run(const JobContext& job = {});
    /// Name of the ONNX value of a graph value. Emits sizes and constants at their first use.
    Result<std::string> value(ValueRef ref);
    /// The content of a value that depends on no input; empty for other values and for dequantized
    /// integers.
    std::optional<at::Tensor> constant(ValueRef ref);
    /// The type of a value; a constant without a recorded type has the type of its content.
    ValueType typeOf(ValueRef ref) const;
    /// Whether `ref` is computed only from stored values, including dequantized integers.
    bool isConstant(ValueRef ref) const { return m_interpreter.isConstant(ref); }

    /// Emits one ONNX node with that many outputs; returns their names, derived from the name of
    /// the current graph node.
    std::vector<std::string> emit(const std::string& op, std::vector<std::string> inputs,
                                  OnnxAttributes attributes, std::size_t outputs);
    /// Adds an initializer, or reuses an equal small one; returns its name. `isNibbles`: its
    /// integers are stored with four bits.
    std::string initializer(const at::Tensor& tensor, const std::string& wanted,
                            bool isNibbles = false);
    /// Sets the ONNX value of a graph value; the value's own name is used if it is free.
    void give(ValueRef ref, const std::string& name);
    /// Makes the value the graph's next output. The name must be unique (`OnnxNames`). Call before
    /// `run`.
    void reserveOutput(ValueRef ref, const std::string& name);
    /// Declares the outputs, with shapes if `shapes` is set. Call after `run`. Fails if an output
    /// has no ONNX value.
    Result<void> giveOutputs(bool shapes = true);
    /// Moves the nodes and tensors of another graph, which may read values of this graph, to this
    /// graph; returns the name of the other graph's first output.
    std::string adopt(OnnxGraph graph);
    void addInput(OnnxValue input) { m_out.inputs.push_back(std::move(input)); }
    /// The declaration of a value of that name and type.
    static OnnxValue declared(const std::string& name, const ValueType& type, bool sizes = true);

    /// The finished graph without unread values. Leaves the builder empty.
    OnnxGraph take(const std::string& name);

    /// Operators without an ONNX form that outputs need: each target once, and the first such node.
    struct Missing
    {
        const Node* first = nullptr;
        std::vector<std::string> targets;
    };
    Missing missing() const;

private:
    /// The node's handler, or null.
    const OnnxHandler* handlerOf(const Node& node) const;
    /// Positions of the nodes that the outputs need.
    std::vector<bool> neededNodes() const;
    bool isLazy(const Node& node) const;
    bool isFolded(const Node& node) const;
    Result<void> emitNode(const Node& node);
    Result<std::string> storedValue(ValueRef ref);
    /// The type of an output, taken from the operator before its quantize-dequantize pairs.
    ValueType outputType(ValueRef ref) const;

    GraphPtr m_graph;
    Interpreter m_interpreter;
    OnnxNames& m_names;
    std::int64_t m_opset;
    OnnxTarget m_target;
    OnnxGraph m_out;
    std::unordered_map<ValueRef, std::string> m_values;
    std::unordered_map<std::string, std::string> m_small; ///< name of small initializers by content
    std::unordered_map<TensorId, std::string> m_stored;
    std::unordered_set<NodeId> m_dequantized; ///< constant nodes after a stored integer
    std::vector<std::pair<ValueRef, std::string>> m_outputs;
    const Node* m_node = nullptr; ///< the node being emitted
};

/// An error (Unsupported) that names the node and its module, with the reason `why`.
Error onnxRefusal(const Node& node, const std::string& why);

} // namespace qs

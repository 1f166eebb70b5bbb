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

/// Turns the nodes of one graph into ONNX nodes, by the handlers of `onnx_handlers.h`. Values that
/// depend on parameters and constants alone become initializers; those computed from stored
/// integers stay integers and a DequantizeLinear. Sizes are emitted only if they are read. One use,
/// on one thread; the graph must outlive it.
class OnnxBuilder
{
public:
    OnnxBuilder(GraphPtr graph, Interpreter interpreter, OnnxNames& names, std::int64_t opset,
                OnnxTarget target = OnnxTarget::Generic);

    const Graph& graph() const { return *m_graph; }
    std::int64_t opset() const { return m_opset; }
    OnnxTarget target() const { return m_target; }
    OnnxNames& names() { return m_names; }

    /// Names an input of the graph; a body's inputs may be values of the graph around it.
    void bind(ValueRef ref, std::string name) { m_values[ref] = std::move(name); }
    /// Emits every node that an output needs. Errors: a node without an ONNX form (Unsupported,
    /// names node and module); a cancel.
    Result<void> run(const JobContext& job = {});
    /// The ONNX value of a graph value; emits sizes and constants that were not needed before.
    Result<std::string> value(ValueRef ref);
    /// The tensor of a value that depends on no input and is not a dequantized integer.
    std::optional<at::Tensor> constant(ValueRef ref);
    /// The type of a value; for a constant without a recorded type, that of its content.
    ValueType typeOf(ValueRef ref) const;
    /// Whether `ref` is computed from stored values alone, dequantized integers included.
    bool isConstant(ValueRef ref) const { return m_interpreter.isConstant(ref); }

    /// Emits one node; returns its outputs' names, derived from those of the current node.
    std::vector<std::string> emit(const std::string& op, std::vector<std::string> inputs,
                                  OnnxAttributes attributes, std::size_t outputs);
    /// The name of an initializer of that content; equal small ones are shared. `isNibbles`: its
    /// integers are stored with four bits.
    std::string initializer(const at::Tensor& tensor, const std::string& wanted,
                            bool isNibbles = false);
    /// Sets the ONNX value of a graph value; the value's own name is used if it is free.
    void give(ValueRef ref, const std::string& name);
    /// From now on the value is an output of the graph, in order, under that name, which nothing
    /// else has (`OnnxNames`). Before `run`.
    void reserveOutput(ValueRef ref, const std::string& name);
    /// Declares the outputs, with their shapes where `shapes` says so. After `run`. Errors: one
    /// that has no ONNX value.
    Result<void> giveOutputs(bool shapes = true);
    /// Takes over the nodes and tensors of another graph that reads values of this one; returns the
    /// name of its first output.
    std::string adopt(OnnxGraph graph);
    void addInput(OnnxValue input) { m_out.inputs.push_back(std::move(input)); }
    /// The declared form of a value.
    static OnnxValue declared(const std::string& name, const ValueType& type, bool sizes = true);

    /// The finished graph without unread values. Leaves the builder empty.
    OnnxGraph take(const std::string& name);

    /// Needed operators without an ONNX form, each once; the first node that has one.
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
    /// An output's type by the operator before its pairs.
    ValueType outputType(ValueRef ref) const;

    GraphPtr m_graph;
    Interpreter m_interpreter;
    OnnxNames& m_names;
    std::int64_t m_opset;
    OnnxTarget m_target;
    OnnxGraph m_out;
    std::unordered_map<ValueRef, std::string> m_values;
    std::unordered_map<std::string, std::string> m_small; ///< content of small initializers to name
    std::unordered_map<TensorId, std::string> m_stored;
    std::unordered_set<NodeId> m_dequantized; ///< constant nodes that follow a stored integer
    std::vector<std::pair<ValueRef, std::string>> m_outputs;
    const Node* m_node = nullptr; ///< at work
};

/// A refusal (Unsupported) that names the node and its module.
Error onnxRefusal(const Node& node, const std::string& why);

} // namespace qs

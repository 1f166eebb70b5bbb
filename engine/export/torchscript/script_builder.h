// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/execute/interpreter.h"
#include "engine/export/torchscript/script_modules.h"

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

using ScriptValue = torch::jit::Value;

/// Builds a TorchScript module: one `forward` whose body is filled value by value, and the child
/// modules, whose attributes hold constants. Borrows the graph, the interpreter and the names.
/// Functions may throw LibTorch's exceptions: call them inside `guardTorch`.
class ScriptBuilder
{
public:
    ScriptBuilder(const Graph& source, const Interpreter& interpreter, const CodeCalls& names);

    const Graph& source() const { return *m_source; }
    torch::jit::Graph& body() { return *m_body; }

    /// Adds an argument to `forward`, after the existing ones.
    ScriptValue* addInput(const std::string& name, const c10::TypePtr& type);
    void bind(ValueRef ref, ScriptValue* value);
    /// The value in the body. A value that depends only on weights becomes an attribute or a
    /// literal at first use. Fails if any other value was not computed yet.
    Result<ScriptValue*> value(ValueRef ref);
    /// The value of an argument, converted to `type`, which the operator's schema requires.
    Result<ScriptValue*> argument(const Argument& argument, const c10::TypePtr& type);
    /// The value of the operator's argument `name`. Scales and zero points that have an attribute
    /// name are read from that attribute.
    Result<ScriptValue*> operand(const Node& node, const std::string& name,
                                 const Argument& argument, const c10::TypePtr& type);
    ScriptValue* literal(const at::IValue& value);
    /// Assigns a new value to a buffer's attribute, for this call and later calls.
    Result<void> setAttribute(ValueRef holder, ScriptValue* value);
    /// Calls an operator; the overload is chosen by the arguments' types.
    ScriptValue* call(const std::string& name, const std::vector<ScriptValue*>& args);

    /// Writes the node. If the names list it as a module's whole forward, writes a call of that
    /// module, which then holds the node's constants.
    Result<void> write(const Node& node);
    /// Writes the nodes of another graph, which may have parameters, at the current position with
    /// the given inputs; returns its outputs.
    Result<std::vector<ScriptValue*>> inlineGraph(const Graph& graph,
                                                  const std::vector<ScriptValue*>& inputs);

    /// Ends `forward` with its return value; returns the module.
    torch::jit::Module finish(ScriptValue* returned);

private:
    Result<void> writeCall(const Node& node, const std::string& path);
    /// Writes the forward of the module at `m_path`, which reads the values `reads`, passed as
    /// `given`.
    Result<ScriptValue*> writeForward(const Node& node, const std::vector<ValueRef>& reads,
                                      const std::vector<ScriptValue*>& given);
    void closeForward(ScriptValue* returned);
    ScriptModules::Place placeOf(const Node& node, ValueRef ref);
    ScriptValue* moduleValue(const std::string& path);
    ScriptValue* read(const ScriptModules::Place& place);
    Result<ScriptValue*> constantValue(ValueRef ref);
    Result<std::vector<ScriptValue*>> writeInner(const std::vector<ScriptValue*>& inputs);
    Result<ScriptValue*> listArgument(const Argument::List& list, const c10::TypePtr& element);
    Result<ScriptValue*> plainArgument(const Argument& argument, const c10::TypePtr& type);

    const Graph* m_source; ///< the graph being written; an inner graph while it is inlined
    const Interpreter* m_interpreter;
    const CodeCalls* m_names; ///< for the outer graph only
    ScriptModules m_modules;
    std::string m_path; ///< of the module whose forward is written
    std::shared_ptr<torch::jit::Graph> m_body;
    ScriptValue* m_self = nullptr;
    std::unordered_map<ValueRef, ScriptValue*> m_values;
    std::unordered_map<ValueRef, ScriptModules::Place> m_placeOf; ///< of stored values
};

} // namespace qs

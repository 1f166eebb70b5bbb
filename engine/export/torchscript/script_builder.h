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

/// A TorchScript module under construction: one `forward` whose body is filled value by value, and
/// the modules below it, whose attributes hold constants. Borrows the graph, the interpreter and
/// the names. Functions may throw exceptions of LibTorch: call inside `guardTorch`.
class ScriptBuilder
{
public:
    ScriptBuilder(const Graph& source, const Interpreter& interpreter, const CodeCalls& names);

    const Graph& source() const { return *m_source; }
    torch::jit::Graph& body() { return *m_body; }

    /// A new argument of `forward`, after those there are.
    ScriptValue* addInput(const std::string& name, const c10::TypePtr& type);
    void bind(ValueRef ref, ScriptValue* value);
    /// The value as computed by the body so far; a value that depends on weights alone becomes an
    /// attribute or a literal at first use. Errors: a value that was not computed.
    Result<ScriptValue*> value(ValueRef ref);
    /// One argument, converted to the type in the operator's schema.
    Result<ScriptValue*> argument(const Argument& argument, const c10::TypePtr& type);
    /// The same of an operator's argument by name: scale and zero point are attributes where the
    /// names have one for them.
    Result<ScriptValue*> operand(const Node& node, const std::string& name,
                                 const Argument& argument, const c10::TypePtr& type);
    ScriptValue* literal(const at::IValue& value);
    /// Gives a buffer's attribute a new value, for this call and those after it.
    Result<void> setAttribute(ValueRef holder, ScriptValue* value);
    /// Calls an operator; the overload is chosen by the arguments' types.
    ScriptValue* call(const std::string& name, const std::vector<ScriptValue*>& args);

    /// Writes the node. If the names say that it is a module's whole forward, writes a call of that
    /// module, which holds the node's constants.
    Result<void> write(const Node& node);
    /// Writes a separate graph at the current place with the given inputs; returns its outputs. It
    /// may hold parameters.
    Result<std::vector<ScriptValue*>> inlineGraph(const Graph& graph,
                                                  const std::vector<ScriptValue*>& inputs);

    /// Closes `forward` with its return value and hands the module over.
    torch::jit::Module finish(ScriptValue* returned);

private:
    Result<void> writeCall(const Node& node, const std::string& path);
    /// Writes the forward of the module at `m_path`; its inputs are these values.
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

    const Graph* m_source; ///< the one being written; an inner one while it is inlined
    const Interpreter* m_interpreter;
    const CodeCalls* m_names; ///< of `m_source`; of no inner one
    ScriptModules m_modules;
    std::string m_path; ///< of the module whose forward is written
    std::shared_ptr<torch::jit::Graph> m_body;
    ScriptValue* m_self = nullptr;
    std::unordered_map<ValueRef, ScriptValue*> m_values;
    std::unordered_map<ValueRef, ScriptModules::Place> m_placeOf; ///< of stored values
};

} // namespace qs

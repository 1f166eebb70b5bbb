// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/torchscript_debug.h"
#include "engine/import/torchscript/walk/torchscript_inference.h"

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <utility>

namespace qs {

/// The current place in the program; new nodes get its scope and source.
struct ScriptPlace
{
    Scope scope;
    std::string function; ///< the enclosing function of torch.nn.functional, or empty
    SourceLocation caller; ///< the call in user code
    const SharedCode* code = nullptr; ///< of the module whose method runs; null for its own
};

/// Adds the nodes of a program to the open scope: the model's graph, or the body of a branch or
/// loop. Owns the scopes of bodies; borrows the root and the debug information. Functions may throw
/// LibTorch's exceptions: call inside `guardTorch`.
class ScriptEmitter
{
public:
    using JitNode = torch::jit::Node;

    ScriptEmitter(ScriptScope& root, const ScriptDebug& debug);

    ScriptScope& root() { return *m_root; }
    ScriptScope& scope() { return *m_scope; }
    /// Creates a scope inside the open one.
    ScriptScope& addScope();
    /// Runs `body` with this scope open.
    template<class Body>
    auto inside(ScriptScope& scope, Body&& body)
    {
        ScriptScope* outer = std::exchange(m_scope, &scope);
        auto made = body();
        m_scope = outer;
        return made;
    }
    /// The stack of enclosing module calls and functions.
    std::vector<ScriptPlace>& places() { return m_places; }
    /// True inside a layer or function of torch.
    bool isInTorch() const;
    SourceLocation find(const JitNode& node, const std::string& function = {}) const;

    ScriptJournal& journal() { return m_journal; }
    ScriptInference& inference() { return m_inference; }
    /// Returns the rank if branches may be decided by it. User code tests ranks to distinguish
    /// samples from batches, so assumed ranks do not count there; inside torch's code they do.
    std::optional<std::int64_t> decidableRank(const ScriptItem& item) const;

    /// Returns the item as an argument of the open scope. A container becomes a list if the slot
    /// takes one, else a node that builds it.
    Result<Argument> argument(const ScriptItem& item, const c10::TypePtr& wanted);
    Result<ValueRef> use(const ScopedRef& ref) { return m_scope->use(ref); }

    void label(Node& made, const JitNode* from) const;
    ScopedRef emit(Node made);
    /// Adds a node with one output: a scalar, a list or a tensor, by `kind`.
    ScopedRef emitOne(std::string_view target, std::vector<NamedArgument> args, ValueKind kind,
                      const JitNode* from);
    /// Adds a node that reads a size of a tensor.
    Result<ScriptItem> emitSize(const ScopedRef& tensor, const ScriptItem& dim,
                                const JitNode* from);
    /// Adds the program's node as an operator.
    Result<void> emitOperator(const JitNode& node, const ScriptItems& args, ScriptEnv& env);
    /// Adds the operator for a method call of a C++ class; the constructor returns the object
    /// created for it.
    Result<void> emitMethod(const JitNode& node, const ScriptItems& args, ScriptEnv& env);
    /// Adds the node with the outputs of the program's node and binds them. `changed`: a container
    /// that it also modifies.
    Result<void> emitFor(const JitNode& node, Node made, ScriptEnv& env,
                         const ScriptContainerPtr& changed = nullptr);

    /// Returns an Unsupported error that names the program's node and its source location.
    Error unsupported(const JitNode& node, const std::string& what) const;

private:
    /// Converts the container to one run-time value computed by a node.
    Result<ScopedRef> makeRuntime(const ScriptContainerPtr& container);
    /// `asValues`: containers become node values, independent of the schema.
    Result<std::vector<NamedArgument>> arguments(const c10::FunctionSchema& schema,
                                                 const ScriptItems& args, bool asValues = false);
    Result<void> emitUnknown(const JitNode& node, const c10::FunctionSchema& schema,
                             const ScriptItems& args, ScriptEnv& env);

    ScriptScope* m_root;
    ScriptScope* m_scope;
    const ScriptDebug& m_debug;
    std::vector<std::unique_ptr<ScriptScope>> m_scopes; ///< scopes of bodies; values refer to them
    std::vector<ScriptPlace> m_places;
    ScriptJournal m_journal;
    ScriptInference m_inference;
};

} // namespace qs

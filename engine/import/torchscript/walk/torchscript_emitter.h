// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/torchscript_debug.h"
#include "engine/import/torchscript/walk/torchscript_inference.h"

#include <torch/csrc/jit/ir/ir.h>

#include <memory>
#include <utility>

namespace qs {

/// The place in the program that is read, by which new nodes are labelled.
struct ScriptPlace
{
    Scope scope;
    std::string function; ///< torch.nn.functional's function we are in, or empty
    SourceLocation caller; ///< where user code called
};

/// Adds the nodes of a program to the scope that is open: the model's graph, or the body of a
/// branch or loop. Owns the scopes of bodies; borrows the root and the debug information. Functions
/// may throw what LibTorch throws: call inside `guardTorch`.
class ScriptEmitter
{
public:
    using JitNode = torch::jit::Node;

    ScriptEmitter(ScriptScope& root, const ScriptDebug& debug);

    ScriptScope& root() { return *m_root; }
    ScriptScope& scope() { return *m_scope; }
    /// A new scope inside the one that is open.
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
    /// The module calls and functions we are in.
    std::vector<ScriptPlace>& places() { return m_places; }
    /// In a layer or function of torch's own.
    bool isInTorch() const;
    SourceLocation find(const JitNode& node, const std::string& function = {}) const;

    ScriptJournal& journal() { return m_journal; }
    ScriptInference& inference() { return m_inference; }
    /// The rank that a branch may depend on: user code tests it to distinguish samples from
    /// batches; in torch's own code it does not matter.
    std::optional<std::int64_t> decidableRank(const ScriptItem& item) const;

    /// The item as an argument of the open scope; a container becomes a list where the slot wants
    /// one, else a node that builds it.
    Result<Argument> argument(const ScriptItem& item, const c10::TypePtr& wanted);
    Result<ValueRef> use(const ScopedRef& ref) { return m_scope->use(ref); }

    void label(Node& made, const JitNode* from) const;
    ScopedRef emit(Node made);
    /// A node of one output: a scalar, a list or a tensor by `kind`.
    ScopedRef emitOne(std::string_view target, std::vector<NamedArgument> args, ValueKind kind,
                      const JitNode* from);
    /// A size of a tensor.
    Result<ScriptItem> emitSize(const ScopedRef& tensor, const ScriptItem& dim,
                                const JitNode* from);
    /// The program's node as an operator.
    Result<void> emitOperator(const JitNode& node, const ScriptItems& args, ScriptEnv& env);
    /// A call of a method of a C++ class, which is an operator; the constructor gives the object
    /// that was created for it.
    Result<void> emitMethod(const JitNode& node, const ScriptItems& args, ScriptEnv& env);
    /// The node with the outputs of the program's one, which become known by it. `changed`: a
    /// container that it also changes.
    Result<void> emitFor(const JitNode& node, Node made, ScriptEnv& env,
                         const ScriptContainerPtr& changed = nullptr);

    /// The error that names the program's node and its place.
    Error unsupported(const JitNode& node, const std::string& what) const;

private:
    /// Turns the container into one value made by a node.
    Result<ScopedRef> makeRuntime(const ScriptContainerPtr& container);
    /// `asValues`: containers as values of nodes, whatever the schema wants.
    Result<std::vector<NamedArgument>> arguments(const c10::FunctionSchema& schema,
                                                 const ScriptItems& args, bool asValues = false);
    Result<void> emitUnknown(const JitNode& node, const c10::FunctionSchema& schema,
                             const ScriptItems& args, ScriptEnv& env);

    ScriptScope* m_root;
    ScriptScope* m_scope;
    const ScriptDebug& m_debug;
    std::vector<std::unique_ptr<ScriptScope>> m_scopes; ///< of bodies; values point into them
    std::vector<ScriptPlace> m_places;
    ScriptJournal m_journal;
    ScriptInference m_inference;
};

} // namespace qs

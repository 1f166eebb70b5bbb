// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/each_of.h"
#include "engine/base/job_context.h"
#include "engine/import/torchscript/torchscript_debug.h"
#include "engine/import/torchscript/torchscript_weights.h"
#include "engine/import/torchscript/walk/torchscript_values.h"

#include <torch/csrc/jit/ir/ir.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// Reads a TorchScript program as a graph by walking it with the known values: constants are
/// computed, branches with a known condition taken, loops with a known count unrolled, calls
/// followed, tuples, lists, dicts, objects and attributes resolved. The remaining operators become
/// nodes of a scope. Branches and loops that depend on data become nodes with bodies. No operator
/// is run on elements. Functions may throw what LibTorch throws: call inside `guardTorch`.
class ScriptEvaluator
{
public:
    using JitNode = torch::jit::Node;
    using JitValue = torch::jit::Value;
    using Items = std::vector<ScriptItem>;
    /// The items of the values of one call of a function.
    using Env = std::unordered_map<const JitValue*, ScriptItem>;

    ScriptEvaluator(ScriptScope& root, ScriptWeights& weights, const ScriptDebug& debug,
                    const JobContext& job);

    /// Follows a call. `module` is null for a plain function.
    Result<ScriptItem> call(torch::jit::Function& function, Items args,
                            const ScriptContainer* module);
    /// The item as an argument of the current scope; a container becomes a list where the slot
    /// wants one, else a node that builds it.
    Result<Argument> argument(const ScriptItem& item, const c10::TypePtr& wanted);
    /// Once all of a scope's nodes are there. Errors (Unsupported): a branch or loop in it changes
    /// a tensor in place that it also carries or hands out, and that is read after it under the
    /// name it had before.
    Result<void> checkWrites(ScriptScope& scope) const;
    /// Once the call has been followed: tensors that the model set as attributes become state
    /// updates. Returns the paths of the other attributes that it leaves changed; every call starts
    /// from their saved values.
    Result<std::vector<std::string>> keepAttributes();

private:
    /// One level of the module calls we are in.
    struct Level
    {
        Scope scope;
        std::string function; ///< torch.nn.functional's function we are in, or empty
        SourceLocation caller; ///< where user code called
    };

    // torchscript_evaluator.cpp: walking
    Result<void> runBlock(const torch::jit::Block& block, Env& env);
    Result<void> runNode(const JitNode& node, Env& env);
    Result<bool> runPrim(const JitNode& node, Env& env);
    Result<void> readConstant(const JitNode& node, Env& env);
    Result<void> runCall(const JitNode& node, Env& env);
    Result<ScriptItem> calledBy(const JitNode& node, Items args);
    /// prim::GetAttr or prim::SetAttr.
    Result<void> useAttribute(const JitNode& node, Env& env);
    Result<ScriptItem> item(const JitValue* value, const Env& env) const;
    Result<Items> inputs(const JitNode& node, const Env& env) const;
    Error unsupported(const JitNode& node, const std::string& what) const;

    // torchscript_containers.cpp: making, unpacking and changing tuples, lists and dicts
    Result<void> construct(const JitNode& node, Items args, Env& env);
    Result<void> emitMethod(const JitNode& node, Items args, Env& env);
    Result<void> unpack(const JitNode& node, const ScriptItem& item, Env& env);
    /// Turns the container into one value made by a node.
    Result<ScopedRef> makeRuntime(const ScriptContainerPtr& container);
    Result<ScriptAnswer> readContainer(const JitNode& node, const Items& args);
    Result<ScriptAnswer> readSizes(const JitNode& node, const Items& args);
    Result<Items> sizesFrom(const ScopedRef& tensor, std::int64_t first, std::int64_t end,
                            const JitNode& node);
    Result<ScriptAnswer> runKnown(const JitNode& node, const Items& args);
    /// The item as LibTorch's operators take it where they want a value of the type: a constant, or
    /// a list, dict or tuple of such; a handle where they take anything. Nothing where that needs
    /// more than is known.
    Result<std::optional<at::IValue>> knownAs(const ScriptItem& item, const c10::TypePtr& declared,
                                              const JitNode& node);

    // torchscript_respell.cpp: operators that a .pt2 has under other names or not at all
    Result<ScriptAnswer> respell(const JitNode& node, const Items& args);
    Result<ScriptAnswer> readTensor(const JitNode& node, const ScopedRef& tensor,
                                    const Items& args);
    Result<ScriptAnswer> castTensor(const JitNode& node, ValueRef self, const Items& args);

    void respellNumber(const JitNode& node, Items& args) const;
    Result<ScriptAnswer> numberTensor(const JitNode& node, const ScriptItem& number, DType dtype);
    std::optional<ScriptItem> wholeNumber(const JitValue& value, const ScriptItem& item) const;
    Result<ScriptAnswer> numberArithmetic(const JitNode& node, const Items& args);
    static void respellConvolution(Node& node);
    static void dropDefaults(std::vector<NamedArgument>& args, const c10::FunctionSchema& schema);

    // torchscript_emit.cpp: operators
    Result<void> emitOperator(const JitNode& node, Items args, Env& env);
    void noteAttributes(const JitNode& node, const c10::FunctionSchema& schema, const Env& env,
                        Node& made) const;
    Result<void> emitUnknown(const JitNode& node, const c10::FunctionSchema& schema,
                             const Items& args, Env& env);
    /// `asValues`: containers as values of nodes, whatever the schema wants.
    Result<std::vector<NamedArgument>> arguments(const c10::FunctionSchema& schema,
                                                 const Items& args, bool asValues = false);
    Result<void> bindOutputs(const JitNode& node, Node made, Env& env,
                             const ScriptContainerPtr& changed = nullptr);
    void label(Node& made, const JitNode* from) const;
    ScopedRef emit(Node made);
    /// A node of one output: a scalar, a list or a tensor by `kind`.
    ScopedRef emitOne(std::string_view target, std::vector<NamedArgument> args, ValueKind kind,
                      const JitNode* from);
    Result<ScriptItem> sizeOf(const ScopedRef& tensor, const ScriptItem& dim, const JitNode* from);
    const Value& valueOf(const ScopedRef& ref) const { return ref.scope->value(ref.ref); }

    // torchscript_types.cpp: inference from operators and their operands, torch's own layers
    bool isInTorch() const;
    void enterLayer(std::string_view moduleClass, const Items& args);
    std::optional<at::IValue> layerFact(const JitNode& node, const Items& args) const;

    /// A number of dimensions that is known, or follows from one, by the assumption that layers
    /// are given batches.
    struct Rank
    {
        std::int64_t count = 0;
        bool isAssumed = false;
    };
    std::optional<Rank> findRank(const ScriptItem& item) const;
    void setRank(const ScopedRef& ref, std::int64_t rank, bool isAssumed = false)
    {
        m_ranks[{ref.scope, ref.ref}] = {rank, isAssumed};
    }
    std::vector<std::optional<Rank>> inferResults(Node& node) const;
    /// The rank that a branch may depend on: user code tests it to distinguish samples from
    /// batches; in torch's own code it does not matter.
    std::optional<std::int64_t> decidableRank(const ScriptItem& item) const;

    // torchscript_control.cpp: branches and loops
    friend class ScriptControl;

    ScriptScope* m_root;
    ScriptScope* m_scope;
    std::vector<std::unique_ptr<ScriptScope>> m_scopes; ///< of bodies; values point into them
    std::size_t m_steps = 0;
    ScriptWeights& m_weights;
    const ScriptDebug& m_debug;
    const JobContext& m_job;
    ScriptJournal m_journal;
    std::vector<Level> m_levels;
    std::unordered_map<std::string, int> m_calls; ///< by module path, so far
    std::map<std::pair<ScriptScope*, ValueRef>, Rank> m_ranks;
    /// The whole number inside a tensor that was made of one.
    std::map<std::pair<ScriptScope*, ValueRef>, ScriptItem> m_numbers;
    /// A branch or loop that changes an operand in place, where that is not followed: one that it
    /// carries, or one that it also hands out.
    struct BodyWrite
    {
        ScriptScope* scope;
        NodeId control;
        ValueRef operand;
        bool isCarried;
        const JitNode* node; ///< for the error, where that matters
    };
    std::vector<BodyWrite> m_bodyWrites;
    std::vector<std::pair<ScriptContainerPtr, std::size_t>> m_setAttributes; ///< objects, slots
};

} // namespace qs

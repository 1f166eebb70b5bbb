// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_evaluator.h"
#include "engine/import/torchscript/walk/torchscript_merge.h"

namespace qs {

/// Branches, loops and exceptions of a TorchScript program. One use a node.
class ScriptControl
{
public:
    using JitNode = ScriptEvaluator::JitNode;
    using Env = ScriptEvaluator::Env;

    explicit ScriptControl(ScriptEvaluator& evaluator)
        : m_e(evaluator)
    {
    }

    /// prim::If, prim::Loop or prim::RaiseException.
    Result<void> run(const JitNode& node, Env& env);

private:
    /// One way through a block, in a scope of its own.
    struct Way
    {
        ScriptScope* scope = nullptr;
        std::vector<ScriptItem> outputs;
        ScriptJournal::Changes changes;
    };
    /// A container that some way changes, and how many patterns describe it.
    struct Cell
    {
        ScriptContainerPtr container;
        std::size_t count = 0;
    };
    using Cells = std::vector<Cell>;
    /// One round of a loop, followed under the assumptions so far.
    struct Round
    {
        ScriptScope* scope = nullptr;
        ScriptItem go;
        std::vector<ScriptItem> items; ///< one per pattern, as the round leaves them
        std::size_t leaves = 0;
        bool settled = false; ///< the assumptions hold
    };

    Result<void> runIf(const JitNode& node, Env& env);
    Result<void> takeBlock(const JitNode& node, const torch::jit::Block& block, Env& env);
    Result<void> dynamicIf(const JitNode& node, const ScriptItem& condition, Env& env);
    Result<void> runLoop(const JitNode& node, Env& env);
    Result<bool> unroll(const JitNode& node, Env& env);
    Result<void> dynamicLoop(const JitNode& node, Env& env);
    Result<Round> followRound(const torch::jit::Block& block, std::vector<ScriptPattern>& patterns,
                              Cells& cells, std::size_t carried, Env& env);
    Result<void> finishLoop(const JitNode& node, std::vector<Argument> head,
                            const std::vector<ScriptItem>& before,
                            const std::vector<ScriptPattern>& patterns, const Cells& cells,
                            const Round& round, Env& env);
    /// The containers that one of two ways changes; what each leaves in them is appended to its
    /// items.
    static Cells changedCells(const Way& yes, const Way& no, std::vector<ScriptItem>& yesItems,
                              std::vector<ScriptItem>& noItems);
    static std::vector<ScriptItem> cellItems(const ScriptContainer& contents);
    static void setCell(ScriptContainer& cell, const std::vector<ScriptItem>& items);
    static void moveUp(ScriptScope& scope, const std::vector<ValueRef>& written);
    Result<void> raise(const JitNode& node, Env& env);

    Result<Way> follow(const torch::jit::Block& block, ScriptScope& scope, Env& env);
    ScriptScope& newScope();
    /// The parts of a way's items at the leaves of the patterns, as arguments of its scope.
    Result<std::vector<Argument>> leafArguments(ScriptScope& scope,
                                                const std::vector<ScriptPattern>& patterns,
                                                const std::vector<ScriptItem>& items);
    Result<std::shared_ptr<const Graph>> finish(ScriptScope& scope, std::vector<Argument> outputs);

    // torchscript_writes.cpp: what bodies change in place
    struct BodyWrites
    {
        std::vector<std::size_t> inputs; ///< positions of those that it changes
        /// What it hands out that shares memory with one: its position, and which of the leaves.
        /// Behind the node they are two tensors.
        std::vector<std::pair<std::size_t, std::uint32_t>> handedOut;
    };
    static std::vector<std::size_t> writtenInputs(const Graph& body);
    static BodyWrites writesOf(const Graph& body, const std::vector<Argument>& leaves);
    /// Errors (Unsupported): a written operand is another operand too.
    Result<void> checkNames(const JitNode& node, const std::vector<ValueRef>& written,
                            const std::vector<ValueRef>& operands) const;
    /// Errors (Unsupported): a round changes the carried value `leaf`, and what it hands on in its
    /// place is another tensor that the body was given.
    Result<void> checkNextRound(const JitNode& node, const Graph& body, const Argument& handedOn,
                                ValueRef leaf) const;
    /// The body of `control` changes what its operand was before: the start of a carried value, or
    /// a tensor that is its output too.
    void remember(const JitNode& node, NodeId control, ValueRef operand,
                  std::optional<std::uint32_t> output = std::nullopt);
    void writeBack(const std::vector<ValueRef>& targets, NodeId node, std::size_t firstOutput,
                   const JitNode& from);

    bool learnRank(const ScriptItem& condition, bool raisesWhenTrue);
    bool dependsOnData(const ScopedRef& ref, int depth) const;

    ScriptEvaluator& m_e;
};

} // namespace qs

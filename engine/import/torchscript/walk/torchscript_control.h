// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_evaluator.h"

namespace qs {

/// The common structure of a value over several paths through a program: parts that are equal on
/// all paths, and leaves known only at run time, which the node of the branch or loop returns.
class ScriptPattern
{
public:
    /// Returns the item's current structure. Values not visible in `outer` (local to a path) are
    /// leaves.
    static ScriptPattern of(const ScriptItem& item, const ScriptScope* outer);
    /// Generalizes the pattern to cover `item` too. Returns true if it changed.
    bool join(const ScriptItem& item);
    /// Appends the parts of `item` at the leaves, in order.
    void collect(const ScriptItem& item, std::vector<ScriptItem>& leaves) const;
    /// Returns the item with each leaf replaced by the next of `values`.
    ScriptItem build(const std::vector<ScopedRef>& values, std::size_t& next) const;
    /// Appends the types of the leaves, in order.
    void types(std::vector<ValueType>& out) const;

private:
    enum class Form
    {
        Fixed, ///< equal on all paths: `fixed`
        Parts, ///< a container of the kind of `fixed`, with `parts`
        Leaf
    };
    Form m_form = Form::Fixed;
    const ScriptScope* m_outer = nullptr;
    ScriptItem m_fixed;
    std::vector<ScriptPattern> m_parts;
    ValueType m_type; ///< of a leaf
    c10::TypePtr m_listType; ///< of a leaf that is a list or dict
    bool m_maybeNone = false;

    void becomeLeaf(const ScriptItem& a, const ScriptItem& b);
};

/// Returns the types of the leaves of all patterns, in order.
std::vector<ValueType> leafTypes(const std::vector<ScriptPattern>& patterns);
/// Returns the items of all patterns with their leaves replaced by `values` in order; surplus
/// values are ignored.
std::vector<ScriptItem> itemsOf(const std::vector<ScriptPattern>& patterns,
                                const std::vector<ScopedRef>& values);

/// Reads branches, loops and exceptions of a TorchScript program. One instance per node.
class ScriptControl
{
public:
    using JitNode = ScriptEvaluator::JitNode;
    using Env = ScriptEvaluator::Env;

    explicit ScriptControl(ScriptEvaluator& evaluator)
        : m_e(evaluator)
        , m_emitter(evaluator.emitter())
    {
    }

    /// Reads a prim::If, prim::Loop or prim::RaiseException.
    Result<void> run(const JitNode& node, Env& env);

private:
    /// One path through a block, in a separate scope.
    struct Way
    {
        ScriptScope* scope = nullptr;
        /// Outputs of the block, then the contents of the changed containers.
        ScriptEvaluator::Items items;
        ScriptJournal::Changes changes;
    };
    /// Results of a branch or loop: a pattern for each of the JIT node's outputs, then for the
    /// contents of each changed container (`cells`), then the outer tensors written in place.
    struct Outcome
    {
        std::vector<ScriptPattern> patterns;
        std::vector<ScriptContainerPtr> cells;
        std::vector<ValueRef> written;
        std::vector<ValueRef> handedOut; ///< written tensors that are also leaves
    };
    Result<void> runIf(const JitNode& node, Env& env);
    Result<void> takeBlock(const JitNode& node, const torch::jit::Block& block, Env& env);
    Result<void> dynamicIf(const JitNode& node, const ScriptItem& condition, Env& env);
    Result<bool> unroll(const JitNode& node, Env& env);
    Result<void> dynamicLoop(const JitNode& node, Env& env);
    /// Follows one iteration under the current assumptions. Returns nullopt if they do not hold;
    /// they are then weakened.
    Result<std::optional<Way>> followRound(const torch::jit::Block& block, Outcome& loop, Env& env);
    Result<void> finishLoop(const JitNode& node, Outcome loop, const ScriptEvaluator::Items& inputs,
                            const Way& round, Env& env);
    Result<void> raise(const JitNode& node, Env& env);

    /// Convert between a container's contents and an item for a pattern.
    static ScriptItem cellItem(const ScriptContainer& contents);
    static void setCell(ScriptContainer& cell, const ScriptItem& item);
    /// Appends the path's contents of each cell to its items.
    static void addCells(Way& way, const std::vector<ScriptContainerPtr>& cells);
    /// Adds containers changed on the path that are not in `cells` yet.
    static void addChanged(const Way& way, std::vector<ScriptContainerPtr>& cells);

    Result<Way> follow(const torch::jit::Block& block, ScriptScope& scope, Env& env);
    /// Returns the parts of a path's items at the leaves of the patterns, as arguments of its
    /// scope.
    Result<std::vector<Argument>> leafArguments(ScriptScope& scope,
                                                const std::vector<ScriptPattern>& patterns,
                                                const std::vector<ScriptItem>& items);
    Result<std::shared_ptr<const Graph>> finish(ScriptScope& scope, std::vector<Argument> outputs);
    /// Adds the node with its outputs, and binds them to the results. Returns its id.
    NodeId handOut(const JitNode& node, Node made, const Outcome& outcome, Env& env);

    bool learnRank(const ScriptItem& condition, bool raisesWhenTrue);
    bool dependsOnData(const ScopedRef& ref, int depth) const;

    ScriptEvaluator& m_e;
    ScriptEmitter& m_emitter;
};

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_evaluator.h"

namespace qs {

/// The common structure of one value over several ways through a program, part by part: parts that
/// are equal on all ways, and leaves known only at run time, which the node of the branch or loop
/// makes.
class ScriptPattern
{
public:
    /// Everything as it is now. Values that `outer` cannot see (a way's own) are leaves.
    static ScriptPattern of(const ScriptItem& item, const ScriptScope* outer);
    /// Weakens the pattern so that it covers `item` too. True when it changed.
    bool join(const ScriptItem& item);
    /// The parts of `item` at the leaves, in order.
    void collect(const ScriptItem& item, std::vector<ScriptItem>& leaves) const;
    /// The item with a value for each leaf, taken from `values` in order.
    ScriptItem build(const std::vector<ScopedRef>& values, std::size_t& next) const;
    /// Types of the leaves in order.
    void types(std::vector<ValueType>& out) const;

private:
    enum class Form
    {
        Fixed, ///< `fixed`, whichever way
        Parts, ///< a container as `fixed`, of `parts`
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

/// Types of the leaves of all, in order.
std::vector<ValueType> leafTypes(const std::vector<ScriptPattern>& patterns);
/// The items of all with a value for each leaf, in order; there may be more values.
std::vector<ScriptItem> itemsOf(const std::vector<ScriptPattern>& patterns,
                                const std::vector<ScopedRef>& values);

/// Branches, loops and exceptions of a TorchScript program. One use a node.
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

    /// prim::If, prim::Loop or prim::RaiseException.
    Result<void> run(const JitNode& node, Env& env);

private:
    /// One way through a block, in a separate scope.
    struct Way
    {
        ScriptScope* scope = nullptr;
        ScriptEvaluator::Items items; ///< outputs of the block, then the cells' content
        ScriptJournal::Changes changes;
    };
    /// Results of a branch or loop: the JIT node's outputs, then the new content of the
    /// containers that it changes, a pattern each; then the outer tensors that it changes in
    /// place.
    struct Outcome
    {
        std::vector<ScriptPattern> patterns;
        std::vector<ScriptContainerPtr> cells;
        std::vector<ValueRef> written;
        std::vector<ValueRef> handedOut; ///< of these, what is also a leaf
    };
    Result<void> runIf(const JitNode& node, Env& env);
    Result<void> takeBlock(const JitNode& node, const torch::jit::Block& block, Env& env);
    Result<void> dynamicIf(const JitNode& node, const ScriptItem& condition, Env& env);
    Result<bool> unroll(const JitNode& node, Env& env);
    Result<void> dynamicLoop(const JitNode& node, Env& env);
    /// A round under the assumptions so far; nothing where they do not hold, and are weaker now.
    Result<std::optional<Way>> followRound(const torch::jit::Block& block, Outcome& loop, Env& env);
    Result<void> finishLoop(const JitNode& node, Outcome loop, const ScriptEvaluator::Items& inputs,
                            const Way& round, Env& env);
    Result<void> raise(const JitNode& node, Env& env);

    /// A container as a separate item, for a pattern, and back.
    static ScriptItem cellItem(const ScriptContainer& contents);
    static void setCell(ScriptContainer& cell, const ScriptItem& item);
    /// Adds the way's content of each cell to its items.
    static void addCells(Way& way, const std::vector<ScriptContainerPtr>& cells);
    /// Adds those that the way changes and that are not there yet.
    static void addChanged(const Way& way, std::vector<ScriptContainerPtr>& cells);

    Result<Way> follow(const torch::jit::Block& block, ScriptScope& scope, Env& env);
    /// The parts of a way's items at the leaves of the patterns, as arguments of its scope.
    Result<std::vector<Argument>> leafArguments(ScriptScope& scope,
                                                const std::vector<ScriptPattern>& patterns,
                                                const std::vector<ScriptItem>& items);
    Result<std::shared_ptr<const Graph>> finish(ScriptScope& scope, std::vector<Argument> outputs);
    /// Adds the node, gives it its outputs and hands them out. Returns its id.
    NodeId handOut(const JitNode& node, Node made, const Outcome& outcome, Env& env);

    bool learnRank(const ScriptItem& condition, bool raisesWhenTrue);
    bool dependsOnData(const ScopedRef& ref, int depth) const;

    ScriptEvaluator& m_e;
    ScriptEmitter& m_emitter;
};

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_control.h"

#include "engine/execute/control/higher_order.h"
#include "engine/execute/control/script_control.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/functionalize/alias_analysis.h"
#include "engine/import/functionalize/erase_unread.h"
#include "engine/import/functionalize/functionalize.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

bool raises(const torch::jit::Block& block)
{
    return std::any_of(block.nodes().begin(), block.nodes().end(),
                       [](const auto* node) { return node->kind() == c10::prim::RaiseException; });
}

/// True if the node reads sizes, the rank or similar facts of a tensor, not its values.
bool isMeasure(const Node& node)
{
    return hasTrait(node.target, OperatorTrait::Measures);
}

/// True if a body reads no tensor values. Examples: the branch of `dim() != 2 and dim() != 3`, a
/// loop for a product of sizes.
bool measuresOnly(const Graph& body)
{
    return std::all_of(body.nodes().begin(), body.nodes().end(), [&body](const NodePtr& node) {
        bool reads = !node->subgraphs.empty();
        for (const auto& arg : node->args)
            forEachRef(arg.value, [&](ValueRef from) {
                reads = reads || body.value(from).type.kind == ValueKind::Tensor;
            });
        return !reads || isMeasure(*node);
    });
}

} // namespace

Result<void> ScriptControl::run(const JitNode& node, Env& env)
{
    if (node.kind() == c10::prim::If)
        return runIf(node, env);
    if (node.kind() == c10::prim::RaiseException)
        return raise(node, env);
    QS_TRY(const bool isUnrolled, unroll(node, env));
    return isUnrolled ? Result<void>() : dynamicLoop(node, env);
}

Result<void> ScriptControl::raise(const JitNode& node, Env& env)
{
    QS_TRY(const ScriptItem message, ScriptEvaluator::item(node.input(0), env));
    QS_TRY(Argument text, m_emitter.argument(message, c10::StringType::get()));
    Node made;
    made.target = kRaiseTarget;
    made.name = "raise_exception";
    made.opaqueReason = "the model raises an exception here";
    made.args = {{"message", std::move(text)}};
    m_emitter.label(made, &node);
    m_emitter.emit(std::move(made));
    return {};
}

Result<void> ScriptControl::takeBlock(const JitNode& node, const torch::jit::Block& block, Env& env)
{
    QS_CHECK(m_e.runBlock(block, env));
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
        QS_TRY(env[node.outputs()[i]], ScriptEvaluator::item(block.outputs()[i], env));
    }
    return {};
}

Result<void> ScriptControl::runIf(const JitNode& node, Env& env)
{
    QS_TRY(const ScriptItem condition, ScriptEvaluator::item(node.input(0), env));
    const torch::jit::Block& whenTrue = *node.blocks()[0];
    const torch::jit::Block& whenFalse = *node.blocks()[1];
    if (const auto* known = knownValue(condition); known && known->isBool())
        return takeBlock(node, known->toBool() ? whenTrue : whenFalse, env);
    const auto* ref = runtimeValue(condition);
    const bool onTrue = raises(whenTrue);
    // A check of shapes or similar facts is skipped: the operators report violations themselves.
    if (ref && onTrue != raises(whenFalse)
        && (learnRank(condition, onTrue) || !dependsOnData(*ref, 0)))
        return takeBlock(node, onTrue ? whenFalse : whenTrue, env);
    return dynamicIf(node, condition, env);
}

bool ScriptControl::learnRank(const ScriptItem& condition, bool raisesWhenTrue)
{
    const ScopedRef ref = *runtimeValue(condition);
    const Node& test = ref.scope->edit().get(ref.ref.node);
    const bool equal = test.target == "_operator.eq", differs = test.target == "_operator.ne";
    if ((!equal && !differs) || differs != raisesWhenTrue || test.args.size() != 2)
        return false;
    const auto* measured = test.args[0].value.asRef();
    const auto* rank = test.args[1].value.asInt();
    if (!measured || !rank)
        return false;
    const Node& dim = ref.scope->edit().get(measured->node);
    const auto* tensor
        = dim.target == kRankTarget && !dim.args.empty() ? dim.args[0].value.asRef() : nullptr;
    if (tensor && ref.scope == &m_emitter.scope())
        m_emitter.inference().setRank({ref.scope, *tensor, false}, {*rank});
    return tensor != nullptr;
}

bool ScriptControl::dependsOnData(const ScopedRef& ref, int depth) const
{
    constexpr int kDeepest = 32;
    const Node& node = ref.scope->edit().get(ref.ref.node);
    if (isMeasure(node))
        return false;
    const bool isControl = node.target == kIfTarget || node.target == kLoopTarget;
    if (node.kind != NodeKind::Op || depth > kDeepest
        || !std::all_of(node.subgraphs.begin(), node.subgraphs.end(),
                        [&](const auto& body) { return isControl && measuresOnly(*body); }))
        return true;
    bool depends = false;
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef from) {
            const bool isTensor = ref.scope->value(from).type.kind == ValueKind::Tensor;
            depends = depends
                || (isTensor ? !isControl : dependsOnData({ref.scope, from, false}, depth + 1));
        });
    return depends;
}

Result<ScriptControl::Way> ScriptControl::follow(const torch::jit::Block& block, ScriptScope& scope,
                                                 Env& env)
{
    m_emitter.journal().open();
    auto done = m_emitter.inside(scope, [&] { return m_e.runBlock(block, env); });
    ScriptJournal::Changes changes = m_emitter.journal().closeAndRestore();
    QS_CHECK(std::move(done));
    QS_TRY(ScriptEvaluator::Items items, eachOf(block.outputs(), [&](const auto* output) {
               return ScriptEvaluator::item(output, env);
           }));
    return Way {&scope, std::move(items), std::move(changes)};
}

Result<std::vector<Argument>>
ScriptControl::leafArguments(ScriptScope& scope, const std::vector<ScriptPattern>& patterns,
                             const std::vector<ScriptItem>& items)
{
    std::vector<ScriptItem> leaves;
    for (std::size_t i = 0; i < patterns.size(); ++i)
        patterns[i].collect(items[i], leaves);
    return m_emitter.inside(scope, [&] {
        return eachOf(leaves, [&](const ScriptItem& leaf) {
            return m_emitter.argument(leaf, c10::AnyType::get());
        });
    });
}

Result<std::shared_ptr<const Graph>> ScriptControl::finish(ScriptScope& scope,
                                                           std::vector<Argument> outputs)
{
    Node out;
    out.kind = NodeKind::Output;
    out.name = "output";
    for (Argument& value : outputs)
        out.args.push_back({"", std::move(value)});
    scope.edit().insert(std::move(out));
    QS_CHECK(m_e.writes().check(scope));
    QS_TRY(const Graph functional, functionalize(scope.edit().build()));
    GraphEdit tidy(functional);
    eraseUnread(tidy);
    return std::make_shared<const Graph>(tidy.build());
}

ScriptItem ScriptControl::cellItem(const ScriptContainer& contents)
{
    // An object has identity; its slots may differ individually.
    return contents.kind == ScriptContainer::Kind::Object
        ? makeContainer(ScriptContainer::Kind::Tuple, contents.type, contents.items)
        : ScriptItem(std::make_shared<ScriptContainer>(contents));
}

void ScriptControl::setCell(ScriptContainer& cell, const ScriptItem& item)
{
    if (cell.kind == ScriptContainer::Kind::Object)
        cell.items = containerOf(item)->items;
    else
        cell = *containerOf(item);
}

void ScriptControl::addCells(Way& way, const std::vector<ScriptContainerPtr>& cells)
{
    for (const ScriptContainerPtr& cell : cells) {
        const auto found = std::find_if(way.changes.begin(), way.changes.end(),
                                        [&](const auto& change) { return change.first == cell; });
        way.items.push_back(cellItem(found == way.changes.end() ? *cell : found->second));
    }
}

void ScriptControl::addChanged(const Way& way, std::vector<ScriptContainerPtr>& cells)
{
    for (const auto& [container, contents] : way.changes)
        if (std::find(cells.begin(), cells.end(), container) == cells.end())
            cells.push_back(container);
}

NodeId ScriptControl::handOut(const JitNode& node, Node made, const Outcome& outcome, Env& env)
{
    for (ValueType& type : leafTypes(outcome.patterns))
        made.outputs.push_back({"", std::move(type)});
    const std::size_t leaves = made.outputs.size();
    for (const ValueRef& target : outcome.written)
        made.outputs.push_back({"", m_emitter.scope().value(target).type});
    m_emitter.label(made, &node);
    const NodeId id = m_emitter.emit(std::move(made)).ref.node;
    for (const ValueRef& outside : outcome.handedOut)
        m_e.writes().note(id, outside, false, node);
    std::vector<ScopedRef> values;
    for (std::uint32_t i = 0; i < leaves; ++i)
        values.push_back({&m_emitter.scope(), {id, i}, false});
    for (std::size_t i = 0; i < outcome.written.size(); ++i) {
        const ValueRef left {id, std::uint32_t(leaves + i)};
        m_emitter.emitOne("aten.copy_.default", {{"self", outcome.written[i]}, {"src", left}},
                          ValueKind::Tensor, &node);
    }
    const std::vector<ScriptItem> items = itemsOf(outcome.patterns, values);
    const std::size_t count = node.outputs().size();
    for (std::size_t i = 0; i < count; ++i)
        env[node.outputs()[i]] = items[i];
    for (std::size_t c = 0; c < outcome.cells.size(); ++c) {
        m_emitter.journal().touch(outcome.cells[c]);
        setCell(*outcome.cells[c], items[count + c]);
    }
    return id;
}

Result<void> ScriptControl::dynamicIf(const JitNode& node, const ScriptItem& condition, Env& env)
{
    QS_TRY(Argument test, m_emitter.argument(condition, c10::BoolType::get()));
    const auto calls = m_e.calls();
    std::array<Way, 2> ways;
    std::array<std::vector<Argument>, 2> leaves;
    Outcome outcome;
    for (std::size_t side = 0; side < ways.size(); ++side) {
        m_e.calls() = calls;
        QS_TRY(ways[side], follow(*node.blocks()[side], m_emitter.addScope(), env));
        addChanged(ways[side], outcome.cells);
    }
    for (Way& way : ways)
        addCells(way, outcome.cells);
    for (std::size_t i = 0; i < ways[0].items.size(); ++i) {
        outcome.patterns.push_back(ScriptPattern::of(ways[0].items[i], &m_emitter.scope()));
        outcome.patterns.back().join(ways[1].items[i]);
    }
    // Outer tensors that one of the bodies changes in place.
    auto& written = outcome.written;
    for (std::size_t side = 0; side < ways.size(); ++side) {
        ScriptScope& scope = *ways[side].scope;
        QS_TRY(leaves[side], leafArguments(scope, outcome.patterns, ways[side].items));
        const auto writes = ScriptBodyWrites::writesOf(scope.edit().build(), leaves[side]);
        std::vector<ValueRef> changed;
        for (const std::size_t input : writes.inputs)
            changed.push_back(scope.captures()[input]);
        QS_CHECK(m_e.writes().checkNames(node, changed, scope.captures()));
        for (const ValueRef& outside : changed)
            if (std::find(written.begin(), written.end(), outside) == written.end())
                written.push_back(outside);
        for (const std::size_t input : writes.handedOut)
            outcome.handedOut.push_back(scope.captures()[input]);
    }
    Node made;
    made.target = kIfTarget;
    made.name = "branch";
    made.opaqueReason = "a data-dependent branch, kept float";
    made.args = {{"condition", std::move(test)},
                 {"then", std::string(kSubgraphPrefix) + "0"},
                 {"otherwise", std::string(kSubgraphPrefix) + "1"}};
    for (std::size_t side = 0; side < ways.size(); ++side) {
        ScriptScope& scope = *ways[side].scope;
        for (const ValueRef& target : written) {
            QS_TRY(const ValueRef left, scope.use({&m_emitter.scope(), target, false}));
            leaves[side].emplace_back(left);
        }
        QS_TRY(auto graph, finish(scope, std::move(leaves[side])));
        made.subgraphs.push_back(std::move(graph));
        made.args.push_back({side == 0 ? "then_operands" : "else_operands",
                             Argument::List(scope.captures().begin(), scope.captures().end())});
    }
    handOut(node, std::move(made), outcome, env);
    return {};
}

} // namespace qs

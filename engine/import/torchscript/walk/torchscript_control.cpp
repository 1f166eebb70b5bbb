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

namespace qs {

namespace {

bool raises(const torch::jit::Block& block)
{
    return std::any_of(block.nodes().begin(), block.nodes().end(),
                       [](const auto* node) { return node->kind() == c10::prim::RaiseException; });
}

std::string subgraphName(std::size_t index)
{
    return std::string(kSubgraphPrefix) + std::to_string(index);
}

Argument::List references(const std::vector<ValueRef>& refs)
{
    Argument::List list;
    for (const ValueRef& ref : refs)
        list.emplace_back(ref);
    return list;
}

/// Tells sizes, ranks and the like of a tensor, not its values.
bool isMeasure(const Node& node)
{
    return hasTrait(node.target, OperatorTrait::Measures);
}

/// Does a body look at no values of tensors? `dim() != 2 and dim() != 3` is a branch with such
/// ones, a product of sizes a loop.
bool measuresOnly(const Graph& body)
{
    return std::all_of(body.nodes().begin(), body.nodes().end(), [&body](const NodePtr& node) {
        if (node->kind == NodeKind::Input || isMeasure(*node))
            return true;
        const bool known = node->kind == NodeKind::Op || node->kind == NodeKind::Output;
        bool reads = !known || !node->subgraphs.empty();
        for (const auto& arg : node->args)
            forEachRef(arg.value, [&](ValueRef from) {
                reads = reads || body.value(from).type.kind == ValueKind::Tensor;
            });
        return !reads;
    });
}

} // namespace

ScriptScope& ScriptControl::newScope()
{
    m_e.m_scopes.push_back(
        std::make_unique<ScriptScope>(m_e.m_scope, m_e.m_scope->edit().tensors()));
    return *m_e.m_scopes.back();
}

Result<void> ScriptControl::run(const JitNode& node, Env& env)
{
    if (node.kind() == c10::prim::If)
        return runIf(node, env);
    if (node.kind() == c10::prim::Loop)
        return runLoop(node, env);
    return raise(node, env);
}

Result<void> ScriptControl::raise(const JitNode& node, Env& env)
{
    QS_TRY(const ScriptItem message, m_e.item(node.input(0), env));
    QS_TRY(Argument text, m_e.argument(message, c10::StringType::get()));
    Node made;
    made.target = kRaiseTarget;
    made.name = "raise_exception";
    made.opaqueReason = "the model raises an exception here";
    made.args = {{"message", std::move(text)}};
    m_e.label(made, &node);
    m_e.emit(std::move(made));
    return {};
}

Result<void> ScriptControl::takeBlock(const JitNode& node, const torch::jit::Block& block, Env& env)
{
    QS_CHECK(m_e.runBlock(block, env));
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
        QS_TRY(env[node.outputs()[i]], m_e.item(block.outputs()[i], env));
    }
    return {};
}

Result<void> ScriptControl::runIf(const JitNode& node, Env& env)
{
    QS_TRY(const ScriptItem condition, m_e.item(node.input(0), env));
    const torch::jit::Block& whenTrue = *node.blocks()[0];
    const torch::jit::Block& whenFalse = *node.blocks()[1];
    if (const auto* known = knownValue(condition); known && known->isBool())
        return takeBlock(node, known->toBool() ? whenTrue : whenFalse, env);
    const auto* ref = runtimeValue(condition);
    const bool one = raises(whenTrue) != raises(whenFalse);
    if (ref && one) {
        // A check of shapes and the like: what is wrong with them, the operators say themselves.
        const bool learnt = learnRank(condition, raises(whenTrue));
        if (learnt || !dependsOnData(*ref, 0))
            return takeBlock(node, raises(whenTrue) ? whenFalse : whenTrue, env);
    }
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
    if (tensor && ref.scope == m_e.m_scope)
        m_e.setRank({ref.scope, *tensor, false}, *rank);
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
    Way way;
    way.scope = &scope;
    ScriptScope* outer = m_e.m_scope;
    m_e.m_scope = &scope;
    m_e.m_journal.open();
    auto done = m_e.runBlock(block, env);
    if (done)
        for (const auto* output : block.outputs()) {
            auto item = m_e.item(output, env);
            if (!item) {
                done = fail(std::move(item).error());
                break;
            }
            way.outputs.push_back(std::move(*item));
        }
    way.changes = m_e.m_journal.closeAndRestore();
    m_e.m_scope = outer;
    if (!done)
        return fail(std::move(done).error());
    return way;
}

Result<std::vector<Argument>>
ScriptControl::leafArguments(ScriptScope& scope, const std::vector<ScriptPattern>& patterns,
                             const std::vector<ScriptItem>& items)
{
    std::vector<ScriptItem> leaves;
    for (std::size_t i = 0; i < patterns.size(); ++i)
        patterns[i].collect(items[i], leaves);
    ScriptScope* outer = m_e.m_scope;
    m_e.m_scope = &scope;
    std::vector<Argument> made;
    Result<void> done {};
    for (const ScriptItem& leaf : leaves) {
        auto read = m_e.argument(leaf, c10::AnyType::get());
        if (!read) {
            done = fail(std::move(read).error());
            break;
        }
        made.push_back(std::move(*read));
    }
    m_e.m_scope = outer;
    if (!done)
        return fail(std::move(done).error());
    return made;
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
    QS_CHECK(m_e.checkWrites(scope));
    QS_TRY(const Graph functional, functionalize(scope.edit().build()));
    GraphEdit tidy(functional);
    eraseUnread(tidy);
    return std::make_shared<const Graph>(tidy.build());
}

ScriptControl::Cells ScriptControl::changedCells(const Way& yes, const Way& no,
                                                 std::vector<ScriptItem>& yesItems,
                                                 std::vector<ScriptItem>& noItems)
{
    Cells cells;
    const auto contentsIn = [](const Way& way, const ScriptContainerPtr& cell) {
        ScriptContainer copy = *cell;
        for (const auto& [container, contents] : way.changes)
            if (container == cell)
                ScriptJournal::setContents(copy, contents);
        return cellItems(copy);
    };
    for (const auto* changes : {&yes.changes, &no.changes})
        for (const auto& [container, contents] : *changes) {
            const auto known = [&, held = container](const Cell& c) { return c.container == held; };
            if (std::any_of(cells.begin(), cells.end(), known))
                continue;
            const auto a = contentsIn(yes, container), b = contentsIn(no, container);
            yesItems.insert(yesItems.end(), a.begin(), a.end());
            noItems.insert(noItems.end(), b.begin(), b.end());
            cells.push_back({container, a.size()});
        }
    return cells;
}

Result<void> ScriptControl::dynamicIf(const JitNode& node, const ScriptItem& condition, Env& env)
{
    QS_TRY(Argument test, m_e.argument(condition, c10::BoolType::get()));
    const auto calls = m_e.m_calls;
    QS_TRY(const Way yes, follow(*node.blocks()[0], newScope(), env));
    m_e.m_calls = calls;
    QS_TRY(const Way no, follow(*node.blocks()[1], newScope(), env));
    std::vector<ScriptItem> yesItems = yes.outputs, noItems = no.outputs;
    const Cells cells = changedCells(yes, no, yesItems, noItems);
    std::vector<ScriptPattern> patterns;
    std::vector<ValueType> types;
    for (std::size_t i = 0; i < yesItems.size(); ++i) {
        patterns.push_back(ScriptPattern::of(yesItems[i], m_e.m_scope));
        patterns.back().join(noItems[i]);
        patterns.back().types(types);
    }
    QS_TRY(auto yesLeaves, leafArguments(*yes.scope, patterns, yesItems));
    QS_TRY(auto noLeaves, leafArguments(*no.scope, patterns, noItems));
    // Tensors of the scope around that one of the bodies changes in place.
    std::vector<ValueRef> written;
    std::vector<std::pair<ValueRef, std::uint32_t>> handedOut;
    for (const auto& [way, leaves] : {std::pair(&yes, &yesLeaves), std::pair(&no, &noLeaves)}) {
        const std::vector<ValueRef>& captures = way->scope->captures();
        const BodyWrites writes = writesOf(way->scope->edit().build(), *leaves);
        std::vector<ValueRef> changed;
        for (const std::size_t input : writes.inputs)
            changed.push_back(captures[input]);
        QS_CHECK(checkNames(node, changed, captures));
        for (const ValueRef& outside : changed)
            if (std::find(written.begin(), written.end(), outside) == written.end())
                written.push_back(outside);
        for (const auto& [input, leaf] : writes.handedOut)
            handedOut.push_back({captures[input], leaf});
    }
    for (const ValueRef& target : written) {
        QS_TRY(const ValueRef inYes, yes.scope->use({m_e.m_scope, target, false}));
        QS_TRY(const ValueRef inNo, no.scope->use({m_e.m_scope, target, false}));
        yesLeaves.emplace_back(inYes);
        noLeaves.emplace_back(inNo);
        types.push_back(m_e.m_scope->value(target).type);
    }
    Node made;
    made.target = kIfTarget;
    made.name = "branch";
    made.opaqueReason = "a branch that the data decide, which is kept as it is";
    QS_TRY(auto yesGraph, finish(*yes.scope, std::move(yesLeaves)));
    QS_TRY(auto noGraph, finish(*no.scope, std::move(noLeaves)));
    made.subgraphs = {std::move(yesGraph), std::move(noGraph)};
    made.args = {{"condition", std::move(test)},
                 {"then", subgraphName(0)},
                 {"otherwise", subgraphName(1)},
                 {"then_operands", references(yes.scope->captures())},
                 {"else_operands", references(no.scope->captures())}};
    for (const ValueType& type : types)
        made.outputs.push_back({"", type});
    m_e.label(made, &node);
    const NodeId id = m_e.emit(std::move(made)).ref.node;
    for (const auto& [outside, leaf] : handedOut)
        remember(node, id, outside, leaf);
    std::vector<ScopedRef> values;
    for (std::size_t i = 0; i < types.size(); ++i)
        values.push_back({m_e.m_scope, {id, std::uint32_t(i)}, false});
    writeBack(written, id, types.size() - written.size(), node);
    std::size_t next = 0;
    std::vector<ScriptItem> merged;
    for (const ScriptPattern& pattern : patterns)
        merged.push_back(pattern.build(values, next));
    for (std::size_t i = 0; i < node.outputs().size(); ++i)
        env[node.outputs()[i]] = merged[i];
    std::size_t first = node.outputs().size();
    for (const Cell& cell : cells) {
        m_e.m_journal.touch(cell.container);
        const auto begin = merged.begin() + std::ptrdiff_t(first);
        setCell(*cell.container, {begin, begin + std::ptrdiff_t(cell.count)});
        first += cell.count;
    }
    return {};
}

} // namespace qs

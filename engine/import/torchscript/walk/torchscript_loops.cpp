// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/higher_order.h"
#include "engine/execute/control/script_control.h"
#include "engine/import/torchscript/walk/torchscript_control.h"

#include <algorithm>

namespace qs {

namespace {

/// Loops of a known count are written out up to this many times.
constexpr std::int64_t kMostRounds = 256;
/// How often the assumptions about a loop are weakened before we give up; each time at least one
/// part becomes a run-time value.
constexpr int kMostTries = 64;

} // namespace

Result<void> ScriptControl::runLoop(const JitNode& node, Env& env)
{
    QS_TRY(const bool unrolled, unroll(node, env));
    return unrolled ? Result<void>() : dynamicLoop(node, env);
}

Result<bool> ScriptControl::unroll(const JitNode& node, Env& env)
{
    const torch::jit::Block& body = *node.blocks()[0];
    QS_TRY(const ScriptItem trips, m_e.item(node.input(0), env));
    QS_TRY(ScriptItem go, m_e.item(node.input(1), env));
    const auto* count = knownValue(trips);
    if (!count || !count->isInt())
        return false;
    std::vector<ScriptItem> carried;
    for (std::size_t i = 2; i < node.inputs().size(); ++i) {
        QS_TRY(ScriptItem item, m_e.item(node.input(i), env));
        carried.push_back(std::move(item));
    }
    const auto calls = m_e.m_calls;
    const std::size_t mark = m_e.m_scope->mark();
    m_e.m_journal.open();
    const auto giveUp = [&] {
        m_e.m_journal.closeAndRestore();
        m_e.m_scope->rollBack(mark);
        m_e.m_calls = calls;
        return false;
    };
    for (std::int64_t round = 0;; ++round) {
        const auto* known = knownValue(go);
        if (!known || !known->isBool())
            return giveUp();
        if (!known->toBool() || round >= count->toInt())
            break;
        if (round >= kMostRounds)
            return giveUp();
        env[body.inputs()[0]] = at::IValue(round);
        for (std::size_t i = 0; i < carried.size(); ++i)
            env[body.inputs()[i + 1]] = carried[i];
        if (auto done = m_e.runBlock(body, env); !done)
            return fail(std::move(done).error());
        QS_TRY(go, m_e.item(body.outputs()[0], env));
        for (std::size_t i = 0; i < carried.size(); ++i) {
            QS_TRY(carried[i], m_e.item(body.outputs()[i + 1], env));
        }
    }
    m_e.m_journal.closeAndKeep();
    for (std::size_t i = 0; i < carried.size(); ++i)
        env[node.outputs()[i]] = carried[i];
    return true;
}

/// The body is followed under assumptions about what every round finds alike; where a round leaves
/// something else behind, that part becomes a value the loop carries, and the body is followed
/// again.
Result<void> ScriptControl::dynamicLoop(const JitNode& node, Env& env)
{
    const torch::jit::Block& block = *node.blocks()[0];
    QS_TRY(const ScriptItem trips, m_e.item(node.input(0), env));
    QS_TRY(const ScriptItem go, m_e.item(node.input(1), env));
    QS_TRY(Argument tripCount, m_e.argument(trips, c10::IntType::get()));
    QS_TRY(Argument goes, m_e.argument(go, c10::BoolType::get()));
    std::vector<ScriptItem> before;
    for (std::size_t i = 2; i < node.inputs().size(); ++i) {
        QS_TRY(ScriptItem item, m_e.item(node.input(i), env));
        before.push_back(std::move(item));
    }
    Cells cells;
    std::vector<ScriptPattern> patterns;
    for (const ScriptItem& item : before)
        patterns.push_back(ScriptPattern::of(item, m_e.m_scope));
    const auto calls = m_e.m_calls;
    for (int attempt = 0; attempt < kMostTries; ++attempt) {
        m_e.m_calls = calls;
        QS_TRY(Round round, followRound(block, patterns, cells, before.size(), env));
        if (round.settled)
            return finishLoop(node, {std::move(tripCount), std::move(goes)}, before, patterns,
                              cells, round, env);
    }
    return fail(m_e.unsupported(node, "changes too much from round to round"));
}

std::vector<ScriptItem> ScriptControl::cellItems(const ScriptContainer& contents)
{
    if (contents.kind == ScriptContainer::Kind::Object)
        return contents.items;
    return {std::make_shared<ScriptContainer>(contents)};
}

void ScriptControl::setCell(ScriptContainer& cell, const std::vector<ScriptItem>& items)
{
    if (cell.kind == ScriptContainer::Kind::Object)
        cell.items = items;
    else
        ScriptJournal::setContents(cell, ScriptJournal::contentsOf(*containerOf(items.front())));
}

Result<ScriptControl::Round> ScriptControl::followRound(const torch::jit::Block& block,
                                                        std::vector<ScriptPattern>& patterns,
                                                        Cells& cells, std::size_t carried, Env& env)
{
    Round round;
    ScriptScope& scope = newScope();
    const auto addInput = [&](const std::string& name, const ValueType& type) {
        Node input;
        input.kind = NodeKind::Input;
        input.name = input.target = name;
        input.outputs.push_back({"", type});
        return ScopedRef {&scope, {scope.edit().insert(std::move(input)), 0}, false};
    };
    ValueType number;
    number.kind = ValueKind::SymInt;
    env[block.inputs()[0]] = addInput("round", number);
    std::vector<ValueType> types;
    for (const ScriptPattern& pattern : patterns)
        pattern.types(types);
    std::vector<ScopedRef> leaves;
    for (const ValueType& type : types)
        leaves.push_back(addInput("carried", type));
    round.leaves = leaves.size();
    std::size_t next = 0, at = 0;
    for (; at < carried; ++at)
        env[block.inputs()[at + 1]] = patterns[at].build(leaves, next);
    // Containers that the body changes start a round as the rounds before left them.
    std::vector<ScriptJournal::Contents> real;
    for (const auto& cell : cells) {
        real.push_back(ScriptJournal::contentsOf(*cell.container));
        std::vector<ScriptItem> items;
        for (std::size_t i = 0; i < cell.count; ++i)
            items.push_back(patterns[at++].build(leaves, next));
        setCell(*cell.container, items);
    }
    auto way = follow(block, scope, env);
    for (std::size_t c = 0; c < cells.size(); ++c)
        ScriptJournal::setContents(*cells[c].container, std::move(real[c]));
    if (!way)
        return fail(std::move(way).error());
    round.scope = &scope;
    round.go = way->outputs.front();
    round.items.assign(way->outputs.begin() + 1, way->outputs.end());
    round.settled = true;
    for (const auto& [container, contents] : way->changes)
        if (std::none_of(cells.begin(), cells.end(),
                         [&, held = container](const Cell& c) { return c.container == held; })) {
            const auto items = cellItems(*container);
            cells.push_back({container, items.size()});
            for (const ScriptItem& item : items)
                patterns.push_back(ScriptPattern::of(item, m_e.m_scope));
            round.settled = false;
        }
    if (!round.settled)
        return round;
    std::size_t first = carried;
    for (const auto& cell : cells) {
        ScriptContainer after = *cell.container;
        bool changed = false;
        for (const auto& [container, contents] : way->changes)
            if (container == cell.container) {
                ScriptJournal::setContents(after, contents);
                changed = true;
            }
        if (changed) {
            const auto items = cellItems(after);
            round.items.insert(round.items.end(), items.begin(), items.end());
        } else {
            // Not touched this time: what the round began with.
            std::size_t skip = 0;
            for (std::size_t p = 0; p < first; ++p)
                patterns[p].build(leaves, skip);
            for (std::size_t i = 0; i < cell.count; ++i)
                round.items.push_back(patterns[first + i].build(leaves, skip));
        }
        first += cell.count;
    }
    for (std::size_t i = 0; i < patterns.size(); ++i)
        if (patterns[i].join(round.items.at(i)))
            round.settled = false;
    return round;
}

Result<void> ScriptControl::finishLoop(const JitNode& node, std::vector<Argument> head,
                                       const std::vector<ScriptItem>& before,
                                       const std::vector<ScriptPattern>& patterns,
                                       const Cells& cells, const Round& round, Env& env)
{
    std::vector<ScriptItem> start = before;
    for (const auto& cell : cells) {
        const auto items = cellItems(*cell.container);
        start.insert(start.end(), items.begin(), items.end());
    }
    QS_TRY(std::vector<Argument> carried, leafArguments(*m_e.m_scope, patterns, start));
    QS_TRY(std::vector<Argument> made, leafArguments(*round.scope, patterns, round.items));
    ScriptScope* outer = m_e.m_scope;
    m_e.m_scope = round.scope;
    auto goOn = m_e.argument(round.go, c10::BoolType::get());
    m_e.m_scope = outer;
    if (!goOn)
        return fail(std::move(goOn).error());
    const Graph graph = round.scope->edit().build();
    const BodyWrites writes = writesOf(graph, made);
    made.insert(made.begin(), std::move(*goOn));
    std::vector<ValueType> types;
    for (const ScriptPattern& pattern : patterns)
        pattern.types(types);
    // Tensors around that the body changes in place are carried too: their inputs move up.
    const std::vector<ValueRef>& captures = round.scope->captures();
    std::vector<ValueRef> written, changed, operands = captures, seen = captures;
    for (const Argument& value : carried)
        if (const auto* operand = value.asRef())
            seen.push_back(*operand);
    const std::size_t firstCapture = round.leaves + 1;
    const auto inputs = graph.inputs();
    for (const std::size_t at : writes.inputs) {
        const ValueRef input {inputs[at]->id, 0};
        if (at < firstCapture) { // a carried value of this round only
            QS_CHECK(checkNextRound(node, graph, made[at], input));
            if (const auto* operand = at > 0 ? carried[at - 1].asRef() : nullptr)
                changed.push_back(*operand);
            continue;
        }
        const ValueRef outside = captures[at - firstCapture];
        written.push_back(outside);
        operands.erase(std::find(operands.begin(), operands.end(), outside));
        carried.emplace_back(outside);
        made.emplace_back(input);
        types.push_back(m_e.m_scope->value(outside).type);
    }
    QS_CHECK(checkNames(node, written, seen));
    QS_CHECK(checkNames(node, changed, seen));
    moveUp(*round.scope, written);
    QS_TRY(auto body, finish(*round.scope, std::move(made)));
    Node loop;
    loop.target = kLoopTarget;
    loop.name = "loop";
    loop.opaqueReason = "a loop whose rounds the data decide, which is kept as it is";
    loop.subgraphs = {std::move(body)};
    loop.args = {{"trips", head[0]},
                 {"condition", head[1]},
                 {"body", std::string(kSubgraphPrefix) + "0"},
                 {"carried", Argument::List(carried.begin(), carried.end())},
                 {"operands", Argument::List(operands.begin(), operands.end())}};
    for (const ValueType& type : types)
        loop.outputs.push_back({"", type});
    m_e.label(loop, &node);
    const NodeId id = m_e.emit(std::move(loop)).ref.node;
    for (const auto& [at, leaf] : writes.handedOut)
        if (at >= firstCapture)
            remember(node, id, captures[at - firstCapture], leaf);
    for (const ValueRef& operand : changed)
        remember(node, id, operand);
    std::vector<ScopedRef> values;
    for (std::size_t i = 0; i < types.size(); ++i)
        values.push_back({m_e.m_scope, {id, std::uint32_t(i)}, false});
    writeBack(written, id, types.size() - written.size(), node);
    std::size_t next = 0, at = 0;
    for (; at < before.size(); ++at)
        env[node.outputs()[at]] = patterns[at].build(values, next);
    for (const auto& cell : cells) {
        std::vector<ScriptItem> items;
        for (std::size_t i = 0; i < cell.count; ++i)
            items.push_back(patterns[at++].build(values, next));
        m_e.m_journal.touch(cell.container);
        setCell(*cell.container, items);
    }
    return {};
}

void ScriptControl::moveUp(ScriptScope& scope, const std::vector<ValueRef>& written)
{
    // The first captured input that stays is where the moved ones go before.
    NodeId firstStaying;
    for (const ValueRef& capture : scope.captures()) {
        const ValueRef inside = *scope.use({scope.parent(), capture, false});
        const bool moves = std::find(written.begin(), written.end(), capture) != written.end();
        if (!moves && !firstStaying)
            firstStaying = inside.node;
    }
    // In the order of `written`.
    std::vector<NodeId> ordered;
    for (const ValueRef& target : written)
        ordered.push_back(scope.use({scope.parent(), target, false})->node);
    if (firstStaying)
        for (const NodeId id : ordered)
            scope.edit().moveBefore(id, firstStaying);
    else
        for (std::size_t i = ordered.size(); i-- > 1;)
            scope.edit().moveBefore(ordered[i - 1], ordered[i]);
}

} // namespace qs

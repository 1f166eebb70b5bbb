// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/higher_order.h"
#include "engine/execute/control/script_control.h"
#include "engine/import/torchscript/walk/torchscript_control.h"

#include <algorithm>

namespace qs {

namespace {

/// Loops with a known count are unrolled up to this number of iterations.
constexpr std::int64_t kMostRounds = 256;
/// Maximum number of times that the assumptions about a loop are weakened; each time at least one
/// part becomes a run-time value.
constexpr int kMostTries = 64;

} // namespace

Result<bool> ScriptControl::unroll(const JitNode& node, Env& env)
{
    const torch::jit::Block& body = *node.blocks()[0];
    QS_TRY(const ScriptEvaluator::Items inputs, ScriptEvaluator::inputs(node, env));
    ScriptItem go = inputs[1];
    const auto* count = knownValue(inputs[0]);
    if (!count || !count->isInt())
        return false;
    std::vector<ScriptItem> carried(inputs.begin() + 2, inputs.end());
    const auto calls = m_e.calls();
    const std::size_t mark = m_emitter.scope().mark();
    m_emitter.journal().open();
    const auto giveUp = [&] {
        m_emitter.journal().closeAndRestore();
        m_emitter.scope().rollBack(mark);
        m_e.calls() = calls;
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
        QS_CHECK(m_e.runBlock(body, env));
        QS_TRY(go, ScriptEvaluator::item(body.outputs()[0], env));
        for (std::size_t i = 0; i < carried.size(); ++i) {
            QS_TRY(carried[i], ScriptEvaluator::item(body.outputs()[i + 1], env));
        }
    }
    m_emitter.journal().closeAndKeep();
    for (std::size_t i = 0; i < carried.size(); ++i)
        env[node.outputs()[i]] = carried[i];
    return true;
}

/// Evaluates the body under the assumption that each part is constant over the iterations. A part
/// that the body changes becomes a carried value, and the body is evaluated again.
Result<void> ScriptControl::dynamicLoop(const JitNode& node, Env& env)
{
    QS_TRY(const ScriptEvaluator::Items inputs, ScriptEvaluator::inputs(node, env));
    Outcome loop;
    for (std::size_t i = 2; i < inputs.size(); ++i)
        loop.patterns.push_back(ScriptPattern::of(inputs[i], &m_emitter.scope()));
    const auto calls = m_e.calls();
    for (int attempt = 0; attempt < kMostTries; ++attempt) {
        m_e.calls() = calls;
        QS_TRY(const std::optional<Way> round, followRound(*node.blocks()[0], loop, env));
        if (round)
            return finishLoop(node, loop, inputs, *round, env);
    }
    return fail(
        m_emitter.unsupported(node, "changes its values in too many ways between iterations"));
}

/// Inputs of the body's scope: the iteration number, the leaves, the tensors that the body changes
/// in place, then the values captured from the enclosing scope.
Result<std::optional<ScriptControl::Way>> ScriptControl::followRound(const torch::jit::Block& block,
                                                                     Outcome& loop, Env& env)
{
    ScriptScope& scope = m_emitter.addScope();
    const auto addInput = [&](const std::string& name, const ValueType& type) {
        Node input;
        input.kind = NodeKind::Input;
        input.name = input.target = name;
        input.outputs.push_back({"", type});
        return ScopedRef {&scope, {scope.edit().insert(std::move(input)), 0}, false};
    };
    env[block.inputs()[0]] = addInput("round", runtimeType(c10::IntType::get()));
    std::vector<ScopedRef> leaves;
    for (const ValueType& type : leafTypes(loop.patterns))
        leaves.push_back(addInput("carried", type));
    for (const ValueRef& target : loop.written)
        scope.bind(target, addInput("carried", m_emitter.scope().value(target).type).ref);
    const std::size_t firstCapture = 1 + leaves.size() + loop.written.size();
    const std::size_t carried = block.inputs().size() - 1;
    const std::vector<ScriptItem> start = itemsOf(loop.patterns, leaves);
    for (std::size_t i = 0; i < carried; ++i)
        env[block.inputs()[i + 1]] = start[i];
    // Containers that the body changes start with the contents from the previous iterations.
    std::vector<ScriptContainer> real;
    for (std::size_t c = 0; c < loop.cells.size(); ++c) {
        real.push_back(*loop.cells[c]);
        setCell(*loop.cells[c], start[carried + c]);
    }
    QS_TRY(Way round, follow(block, scope, env));
    addCells(round, loop.cells);
    for (std::size_t c = 0; c < real.size(); ++c)
        *loop.cells[c] = std::move(real[c]);
    addChanged(round, loop.cells);
    const std::size_t before = real.size();
    for (std::size_t c = before; c < loop.cells.size(); ++c)
        loop.patterns.push_back(ScriptPattern::of(cellItem(*loop.cells[c]), &m_emitter.scope()));
    if (before < loop.cells.size())
        return std::nullopt;
    bool holds = true;
    for (std::size_t i = 0; i < loop.patterns.size(); ++i)
        holds = !loop.patterns[i].join(round.items[i + 1]) && holds;
    if (!holds)
        return std::nullopt;
    // A tensor that the body changes may already be a carried value.
    for (const std::size_t input : ScriptBodyWrites::writtenInputs(scope.edit().build()))
        if (input >= firstCapture) {
            loop.written.push_back(scope.captures()[input - firstCapture]);
            holds = false;
        }
    return holds ? std::optional(std::move(round)) : std::nullopt;
}

Result<void> ScriptControl::finishLoop(const JitNode& node, Outcome loop,
                                       const ScriptEvaluator::Items& inputs, const Way& round,
                                       Env& env)
{
    QS_TRY(Argument trips, m_emitter.argument(inputs[0], c10::IntType::get()));
    QS_TRY(Argument condition, m_emitter.argument(inputs[1], c10::BoolType::get()));
    std::vector<ScriptItem> start(inputs.begin() + 2, inputs.end());
    for (const ScriptContainerPtr& cell : loop.cells)
        start.push_back(cellItem(*cell));
    QS_TRY(std::vector<Argument> carried, leafArguments(m_emitter.scope(), loop.patterns, start));
    QS_TRY(
        std::vector<Argument> left,
        leafArguments(*round.scope, loop.patterns, {round.items.begin() + 1, round.items.end()}));
    QS_TRY(Argument goOn, m_emitter.inside(*round.scope, [&] {
        return m_emitter.argument(round.items[0], c10::BoolType::get());
    }));
    const Graph graph = round.scope->edit().build();
    const auto writes = ScriptBodyWrites::writesOf(graph, left);
    const std::vector<ValueRef>& captures = round.scope->captures();
    std::vector<ValueRef> changed, seen = captures;
    seen.insert(seen.end(), loop.written.begin(), loop.written.end());
    for (const Argument& value : carried)
        if (const auto* operand = value.asRef())
            seen.push_back(*operand);
    for (const std::size_t input : writes.inputs) {
        if (input > carried.size())
            continue;
        // A carried value of this iteration.
        QS_CHECK(m_e.writes().checkNextRound(node, graph, left[input - 1],
                                             {graph.inputs()[input]->id, 0}));
        if (const auto* operand = carried[input - 1].asRef())
            changed.push_back(*operand);
    }
    for (const std::size_t input : writes.handedOut)
        if (input > carried.size())
            loop.handedOut.push_back(loop.written[input - carried.size() - 1]);
    QS_CHECK(m_e.writes().checkNames(node, loop.written, seen));
    QS_CHECK(m_e.writes().checkNames(node, changed, seen));
    for (const ValueRef& target : loop.written) {
        QS_TRY(const ValueRef within, round.scope->use({&m_emitter.scope(), target, false}));
        left.emplace_back(within);
        carried.emplace_back(target);
    }
    left.insert(left.begin(), std::move(goOn));
    QS_TRY(auto body, finish(*round.scope, std::move(left)));
    Node made;
    made.target = kLoopTarget;
    made.name = "loop";
    made.opaqueReason = "a data-dependent loop, kept float";
    made.subgraphs = {std::move(body)};
    made.args = {{"trips", std::move(trips)},
                 {"condition", std::move(condition)},
                 {"body", std::string(kSubgraphPrefix) + "0"},
                 {"carried", std::move(carried)},
                 {"operands", Argument::List(captures.begin(), captures.end())}};
    const NodeId id = handOut(node, std::move(made), loop, env);
    for (const ValueRef& operand : changed)
        m_e.writes().note(id, operand, true, node);
    return {};
}

} // namespace qs

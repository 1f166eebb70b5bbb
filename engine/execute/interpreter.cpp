// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/constant_folding.h"
#include "engine/execute/control/goes_on.h"
#include "engine/execute/liveness.h"
#include "engine/execute/node_runner.h"
#include "engine/execute/random/random_draws.h"
#include "engine/execute/reuse.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/state.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace qs {

struct Interpreter::Impl
{
    GraphPtr graph;
    InterpreterOptions options;
    std::vector<NodeCall> calls; ///< by position
    JoinedPairs pairs;
    std::vector<std::vector<ValueRef>> dead; ///< by position
    std::vector<bool> constantNodes; ///< by position
    std::vector<bool> readByRun; ///< by position: a node that is not constant reads it
    std::unordered_map<ValueRef, at::IValue> folded;
    std::map<const Graph*, Interpreter> subgraphs;
    std::vector<const Node*> holders; ///< buffers that the model changes
    std::string place; ///< for a body: `bodyPlace` of the current run

    bool isConstant(ValueRef ref) const { return constantNodes[graph->position(ref.node)]; }
    Result<at::IValue> read(ValueRef ref, const Frame& frame);
    Result<void> runNode(const Node& node, Frame& frame, const ReusePolicy& policy,
                         const Tap& tap = {}, const JobContext& job = {});
    Result<at::IValue> stored(const Node& node) const;
    Result<at::IValue> fold(ValueRef ref);
    Result<void> startState(Frame& frame, const ModelState& carried) const;
    Result<std::vector<at::IValue>> runSubgraph(const Node& node, std::size_t index,
                                                std::vector<at::IValue> inputs, std::string where,
                                                const Tap& tap, const JobContext& job);
    Result<std::vector<std::size_t>> needed(const Frame& frame, std::span<const ValueRef> wanted,
                                            bool throughConstants) const;
    Result<void> evaluate(Frame& frame, std::span<const ValueRef> wanted, const JobContext& job,
                          bool throughConstants);
    Result<void> tapOutputs(const Node& node, const Frame& frame, const Tap& tap);
};

Result<Interpreter> Interpreter::create(GraphPtr graph, InterpreterOptions options,
                                        const JobContext& job)
{
    constexpr std::size_t kOften = 256; // nodes between checks for a cancel
    constexpr std::size_t kFreedLater = 2000; // nodes whose calls take milliseconds to delete
    const bool large = graph->nodes().size() >= kFreedLater;
    Interpreter made(large ? std::shared_ptr<Impl>(makeFreedLater<Impl>())
                           : std::make_shared<Impl>());
    Impl& impl = *made.m_impl;
    impl.graph = std::move(graph);
    impl.options = std::move(options);
    impl.dead = lastUses(*impl.graph);
    impl.calls.reserve(impl.graph->nodes().size());
    for (const auto& node : impl.graph->nodes()) {
        if (impl.calls.size() % kOften == 0)
            QS_CHECK(job.check());
        impl.calls.push_back(prepareCall(*node, impl.options.layout, impl.options.device));
    }
    QS_CHECK(job.check());
    for (const StateUpdate& update : stateUpdates(*impl.graph))
        if (const Node& holder = impl.graph->get(update.holder); holder.isStored())
            impl.holders.push_back(&holder);
    impl.constantNodes = findConstantNodes(*impl.graph, impl.calls);
    impl.readByRun = findReadByOthers(*impl.graph, impl.constantNodes);
    impl.pairs = findJoinedPairs(*impl.graph);
    return made;
}

// clang-format off
const Graph& Interpreter::graph() const { return *m_impl->graph; }
at::Device Interpreter::device() const { return m_impl->options.device; }
Layout Interpreter::layout() const { return m_impl->options.layout; }
// clang-format on

Result<at::IValue> Interpreter::Impl::stored(const Node& node) const
{
    const auto store = tensorsOf(*graph);
    if (!store)
        return fail(makeError(ErrorCode::Internal, "the graph has no weights").atNode(node.name));
    auto value = store->getOn(node.tensor, options.device);
    if (!value)
        return fail(std::move(value).error().atNode(node.name));
    return value;
}

Result<at::IValue> Interpreter::Impl::read(ValueRef ref, const Frame& frame)
{
    if (const auto* value = frame.tryGet(ref))
        return *value;
    const Node& node = graph->get(ref.node);
    if (isConstant(ref) || node.isStored()) {
        auto value = isConstant(ref) ? fold(ref) : stored(node);
        // Weights of a file may require gradients, but only gradients of other values are recorded.
        if (value && value->isTensor() && at::GradMode::is_enabled())
            return at::IValue(value->toTensor().detach());
        return value;
    }
    return fail(makeError(ErrorCode::Internal,
                          "the value '" + graph->value(ref).name + "' has not been computed")
                    .atNode(node.name));
}

Result<at::IValue> Interpreter::Impl::fold(ValueRef ref)
{
    if (const auto it = folded.find(ref); it != folded.end())
        return it->second;
    const Node& node = graph->get(ref.node);
    if (node.kind != NodeKind::Op) {
        QS_TRY(at::IValue value, stored(node));
        if (readByRun[graph->position(ref.node)]) // the next run needs it again
            folded[ref] = value;
        return value;
    }
    if (const auto kept = options.constants.find ? options.constants.find(ref) : nullptr)
        return folded[ref] = *kept;
    Frame frame;
    std::vector<ValueRef> wanted;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        wanted.push_back({node.id, i});
    QS_CHECK(evaluate(frame, wanted, {}, true));
    for (const ValueRef& made : wanted) {
        folded[made] = frame.get(made);
        if (options.constants.keep)
            options.constants.keep(made, folded.at(made));
    }
    return folded.at(ref);
}

Result<std::vector<at::IValue>> Interpreter::Impl::runSubgraph(const Node& node, std::size_t index,
                                                               std::vector<at::IValue> inputs,
                                                               std::string where, const Tap& tap,
                                                               const JobContext& job)
{
    const auto& subgraph = node.subgraphs.at(index);
    auto it = subgraphs.find(subgraph.get());
    if (it == subgraphs.end()) {
        QS_TRY(
            Interpreter inner,
            Interpreter::create(
                subgraph,
                {.device = options.device, .bodies = options.bodies, .observed = options.observed},
                job));
        it = subgraphs.emplace(subgraph.get(), std::move(inner)).first;
    }
    it->second.m_impl->place = std::move(where);
    if (!tap && !options.bodies)
        return it->second.run(std::move(inputs), {}, job);
    const Tap inside
        = [&](ValueRef ref, const Node& inner, const at::IValue& value) -> Result<void> {
        if (options.bodies)
            options.bodies(*subgraph, ref, value);
        return tap && inner.isOp(kObserveTarget) ? tap({node.id, 0}, inner, value) : Result<void>();
    };
    return it->second.run(std::move(inputs), inside, job);
}

Result<void> Interpreter::Impl::runNode(const Node& node, Frame& frame, const ReusePolicy& policy,
                                        const Tap& tap, const JobContext& job)
{
    if (node.isStored()) {
        QS_TRY(at::IValue value, stored(node));
        frame.set({node.id, 0}, std::move(value));
        return {};
    }
    const bool runs = node.isOperator();
    if (!runs || runJoined(pairs, node, frame, policy))
        return {};
    const ReadValue readValue = [&](ValueRef ref) { return read(ref, frame); };
    if (options.observed && node.isOp(kObserveTarget)) {
        QS_TRY(const at::IValue value, read(*node.args.at(0).value.asRef(), frame));
        QS_TRY(at::IValue made, options.observed(node, value));
        frame.set({node.id, 0}, std::move(made));
        return {};
    }
    std::int64_t round = 0;
    const RunSubgraph subgraphRunner = [&](std::size_t index, std::vector<at::IValue> inputs) {
        return runSubgraph(node, index, std::move(inputs), bodyPlace(place, node, round++), tap,
                           job);
    };
    const NodeCall& call = calls[graph->position(node.id)];
    const bool overwrite = call.inPlace && mayOverwriteFirst(node, frame, policy);
    QS_TRY(auto values,
           runCall(node, call, {options.device, readValue, subgraphRunner, overwrite, place}));
    if (isStateUpdate(node))
        frame.setState(*node.args[0].value.asString(), values.at(0));
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        frame.set({node.id, i}, std::move(values[i]));
    return {};
}

Result<void> Interpreter::Impl::startState(Frame& frame, const ModelState& carried) const
{
    for (const Node* holder : holders) {
        if (const auto it = carried.find(holder->name); it != carried.end()) {
            frame.set({holder->id, 0}, it->second);
            continue;
        }
        QS_TRY(at::IValue saved, stored(*holder));
        frame.set({holder->id, 0}, std::move(saved));
    }
    return {};
}

Result<void> Interpreter::Impl::tapOutputs(const Node& node, const Frame& frame, const Tap& tap)
{
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
        const ValueRef ref {node.id, i};
        QS_TRY(const at::IValue value, read(ref, frame));
        QS_CHECK(tap(ref, node, value));
    }
    return {};
}

Result<std::vector<at::IValue>> Interpreter::run(std::vector<at::IValue> inputs, const Tap& tap,
                                                 const JobContext& job, ModelState* carried) const
{
    const InferenceScope scope;
    Impl& impl = *m_impl;
    const auto nodes = impl.graph->nodes();
    if (const auto wanted = impl.graph->inputs().size(); inputs.size() != wanted)
        return fail(ErrorCode::BadInput,
                    "the model takes " + counted(wanted, "input") + ", "
                        + std::to_string(inputs.size()) + " were given");
    if (impl.options.times)
        impl.options.times->beginRun();
    Frame frame;
    QS_CHECK(impl.startState(frame, carried ? *carried : ModelState()));
    std::size_t nextInput = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = *nodes[i];
        QS_CHECK(checkGoesOn(job, node));
        if (node.kind == NodeKind::Input)
            frame.set({node.id, 0}, inLayout(inputs[nextInput++], impl.options.layout));
        else if (node.kind == NodeKind::Output)
            break;
        else if (!impl.constantNodes[i] && !node.isStored()) {
            const NodeTimes::Watch watch(impl.options.times.get(), node.id);
            QS_CHECK(impl.runNode(node, frame, {!tap, impl.dead[i]}, tap, job));
        }
        if (tap && !node.isStored())
            QS_CHECK(impl.tapOutputs(node, frame, tap));
        for (const ValueRef& ref : impl.dead[i])
            frame.release(ref);
    }
    std::vector<at::IValue> out;
    const ReadValue readValue = [&](ValueRef ref) { return impl.read(ref, frame); };
    for (const auto& arg : impl.graph->output().args)
        QS_CHECK(convertFlat(arg.value, impl.options.device, readValue, out));
    if (carried)
        for (const auto& [holder, value] : frame.state())
            (*carried)[holder] = value;
    return out;
}

Result<void> Interpreter::startState(Frame& frame, const ModelState& carried) const
{
    return m_impl->startState(frame, carried);
}

Result<std::vector<std::size_t>> Interpreter::Impl::needed(const Frame& frame,
                                                           std::span<const ValueRef> wanted,
                                                           bool throughConstants) const
{
    std::unordered_set<std::size_t> found;
    std::vector<ValueRef> todo(wanted.begin(), wanted.end());
    while (!todo.empty()) {
        const ValueRef ref = todo.back();
        todo.pop_back();
        const Node& node = graph->get(ref.node);
        const std::size_t position = graph->position(ref.node);
        if (frame.has(ref) || node.isStored() || (constantNodes[position] && !throughConstants))
            continue;
        if (node.kind == NodeKind::Input)
            return fail(makeError(ErrorCode::Internal, "the input is needed but was not given")
                            .atNode(node.name));
        if (!found.insert(position).second)
            continue;
        for (const auto& arg : node.args)
            forEachRef(arg.value, [&](ValueRef from) { todo.push_back(from); });
    }
    std::vector<std::size_t> order(found.begin(), found.end());
    std::sort(order.begin(), order.end());
    return order;
}

Result<void> Interpreter::Impl::evaluate(Frame& frame, std::span<const ValueRef> wanted,
                                         const JobContext& job, bool throughConstants)
{
    QS_TRY(const auto order, needed(frame, wanted, throughConstants));
    // Values made in this call are freed after their last reader in it, unless they are requested.
    std::unordered_map<ValueRef, std::size_t> lastReader;
    for (const std::size_t position : order)
        for (const auto& arg : graph->nodes()[position]->args)
            forEachRef(arg.value, [&](ValueRef ref) { lastReader[ref] = position; });
    const std::unordered_set<ValueRef> keep(wanted.begin(), wanted.end());
    std::unordered_set<ValueRef> made;
    for (const std::size_t position : order) {
        const Node& node = *graph->nodes()[position];
        QS_CHECK(checkGoesOn(job, node));
        std::vector<at::IValue> given(node.outputs.size());
        std::vector<bool> wasGiven(node.outputs.size());
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            if (const auto* value = frame.tryGet({node.id, i})) {
                given[i] = *value;
                wasGiven[i] = true;
            }
        std::vector<ValueRef> expendable;
        for (const auto& arg : node.args)
            forEachRef(arg.value, [&](ValueRef ref) {
                if (lastReader[ref] == position && made.contains(ref) && !keep.contains(ref))
                    expendable.push_back(ref);
            });
        QS_CHECK(runNode(node, frame, {!throughConstants, expendable}, {}, job));
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            const ValueRef ref {node.id, i};
            if (wasGiven[i])
                frame.set(ref, std::move(given[i]));
            else if (!lastReader.contains(ref) && !keep.contains(ref))
                frame.release(ref);
            else
                made.insert(ref);
        }
        for (const ValueRef& ref : expendable)
            frame.release(ref);
    }
    for (const ValueRef& ref : wanted)
        if (!frame.has(ref)) {
            QS_TRY(at::IValue value, read(ref, frame));
            frame.set(ref, std::move(value));
        }
    return {};
}

Result<void> Interpreter::evaluate(Frame& frame, std::span<const ValueRef> wanted,
                                   const JobContext& job) const
{
    const InferenceScope scope;
    return m_impl->evaluate(frame, wanted, job, false);
}

Result<void> Interpreter::runNode(const Node& node, Frame& frame) const
{
    const InferenceScope scope;
    const NodeTimes::Watch watch(m_impl->options.times.get(), node.id);
    return m_impl->runNode(node, frame, {});
}

Result<void> Interpreter::runNode(const Node& node, Frame& frame,
                                  std::span<const ValueRef> expendable, const JobContext& job) const
{
    const InferenceScope scope;
    const NodeTimes::Watch watch(m_impl->options.times.get(), node.id);
    return m_impl->runNode(node, frame, {true, expendable}, {}, job);
}

std::span<const ValueRef> Interpreter::deadAfter(std::size_t position) const
{
    return m_impl->dead.at(position);
}

bool Interpreter::isConstant(ValueRef ref) const
{
    return m_impl->isConstant(ref);
}

Result<at::IValue> Interpreter::constant(ValueRef ref) const
{
    const InferenceScope scope;
    return m_impl->read(ref, {});
}

Result<at::IValue> Interpreter::computeConstant(ValueRef ref) const
{
    const InferenceScope scope;
    if (const Node& node = graph().get(ref.node); node.isStored())
        return m_impl->stored(node);
    Frame frame;
    QS_CHECK(m_impl->evaluate(frame, std::span(&ref, 1), {}, true));
    return frame.get(ref);
}

} // namespace qs

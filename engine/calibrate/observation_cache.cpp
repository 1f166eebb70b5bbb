// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observation_cache.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/argument_number.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operators.h"

#include <optional>
#include <string_view>

namespace qs {

namespace {

// Returns the bounds in the operator's arguments; nullopt if one is not a constant.
std::optional<Bounds> boundsFrom(const Node& node, const OperatorClamp& clamp)
{
    Bounds out {clamp.low, clamp.high};
    for (auto [name, bound] :
         {std::pair {clamp.lowArgument, &out.low}, std::pair {clamp.highArgument, &out.high}}) {
        const Argument* given = name.empty() ? nullptr : node.tryArg(name);
        if (!given || given->isNone())
            continue;
        const auto value = numberOf(given);
        if (!value)
            return std::nullopt;
        *bound = float(*value);
    }
    return out;
}

// Returns the operator's bounds on its first argument's values if it only clamps or reorders them.
std::optional<Bounds> boundsOf(const Node& op)
{
    if (op.kind != NodeKind::Op || op.args.empty() || op.outputs.size() != 1)
        return std::nullopt;
    const OperatorFacts& facts = factsOf(op.target);
    if (facts.clamp)
        return boundsFrom(op, *facts.clamp);
    const Argument* train = op.tryArg("train");
    if (!facts.traits.has(OperatorTrait::Permutes)
        || (train && !(train->asBool() && !*train->asBool())))
        return std::nullopt;
    return Bounds {};
}

} // namespace

ObservationCache::ObservationCache(const Graph& prepared)
{
    const auto argumentOf = [&](const Node& node) -> const Node* {
        const ValueRef* ref = node.args.empty() ? nullptr : node.args[0].value.asRef();
        return ref ? prepared.tryGet(ref->node) : nullptr;
    };
    for (const auto& node : prepared.nodes()) {
        if (!node->isOp(kObserveTarget))
            continue;
        const Node* op = argumentOf(*node);
        const Node* before = op ? argumentOf(*op) : nullptr;
        if (!before || !before->isOp(kObserveTarget) || before->observer != node->observer)
            continue;
        if (const auto bounds = boundsOf(*op)) {
            m_follows[node.get()] = {before, *bounds};
            ++m_followers[before];
        }
    }
}

std::int64_t ObservationCache::observe(Observer& observer, const Node& node, const at::Tensor& x)
{
    Observed found;
    std::int64_t bad = 0;
    const auto follows = m_follows.find(&node);
    const auto observation = follows == m_follows.end() ? m_observations.end()
                                                        : m_observations.find(follows->second.of);
    if (observation == m_observations.end()) {
        bad = observer.observe(x, found);
    } else {
        bad = observer.observeFollowing(x, observation->second.found, follows->second.bounds,
                                        found);
        if (--observation->second.wanted == 0)
            m_observations.erase(observation);
    }
    if (const auto followers = m_followers.find(&node); followers != m_followers.end())
        m_observations[&node] = {std::move(found), followers->second};
    return bad;
}

} // namespace qs

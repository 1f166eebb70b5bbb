// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/shared_looks.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/argument_number.h"
#include "engine/graph/operators/engine_ops.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace qs {

namespace {

// Every value of the input once, in whatever order. `dropout` is one of them outside of training.
constexpr std::array<std::string_view, 28> kReorder {"aten.view.default",
                                                     "aten.reshape.default",
                                                     "aten._unsafe_view.default",
                                                     "aten.flatten.using_ints",
                                                     "aten.unflatten.int",
                                                     "aten.permute.default",
                                                     "aten.transpose.int",
                                                     "aten.t.default",
                                                     "aten.squeeze.default",
                                                     "aten.squeeze.dim",
                                                     "aten.squeeze.dims",
                                                     "aten.unsqueeze.default",
                                                     "aten.contiguous.default",
                                                     "aten.clone.default",
                                                     "aten.detach.default",
                                                     "aten.alias.default",
                                                     "aten.movedim.int",
                                                     "aten.movedim.intlist",
                                                     "aten.swapaxes.default",
                                                     "aten.swapdims.default",
                                                     "aten.pixel_shuffle.default",
                                                     "aten.pixel_unshuffle.default",
                                                     "aten.channel_shuffle.default",
                                                     "aten.native_channel_shuffle.default",
                                                     "aten.flip.default",
                                                     "aten.roll.default",
                                                     "aten.dropout.default",
                                                     "aten.feature_dropout.default"};

// The bounds from arguments `low` and `high`; one that is not given has the default. Nothing when
// one is no constant.
std::optional<Bounds> boundsFrom(const Node& node, std::string_view low, std::string_view high,
                                 Bounds defaults)
{
    Bounds out = defaults;
    for (auto [name, bound] : {std::pair {low, &out.low}, std::pair {high, &out.high}}) {
        const Argument* given = node.tryArg(name);
        if (!given || given->isNone())
            continue;
        const auto value = numberOf(given);
        if (!value)
            return std::nullopt;
        *bound = float(*value);
    }
    return out;
}

// What the operator does to its first argument's values, when it is one of those.
std::optional<Bounds> boundsOf(const Node& op)
{
    if (op.kind != NodeKind::Op || op.args.empty() || op.outputs.size() != 1)
        return std::nullopt;
    if (op.target == "aten.relu.default")
        return Bounds {.low = 0};
    if (op.target == "aten.relu6.default")
        return Bounds {0, 6};
    if (op.target == "aten.hardtanh.default")
        return boundsFrom(op, "min_val", "max_val", {-1, 1});
    if (op.target == "aten.clamp.default")
        return boundsFrom(op, "min", "max", {});
    if (std::find(kReorder.begin(), kReorder.end(), op.target) == kReorder.end())
        return std::nullopt;
    const Argument* train = op.tryArg("train");
    if (train && !(train->asBool() && !*train->asBool()))
        return std::nullopt;
    return Bounds {};
}

} // namespace

SharedLooks::SharedLooks(const Graph& prepared)
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

std::int64_t SharedLooks::observe(Observer& observer, const Node& node, const at::Tensor& x)
{
    Observed found;
    std::int64_t bad = 0;
    const auto follows = m_follows.find(&node);
    const auto look = follows == m_follows.end() ? m_looks.end() : m_looks.find(follows->second.of);
    if (look == m_looks.end()) {
        bad = observer.observe(x, found);
    } else {
        bad = observer.observeFollowing(x, look->second.found, follows->second.bounds, found);
        if (--look->second.wanted == 0)
            m_looks.erase(look);
    }
    if (const auto followers = m_followers.find(&node); followers != m_followers.end())
        m_looks[&node] = {std::move(found), followers->second};
    return bad;
}

} // namespace qs

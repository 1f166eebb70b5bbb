// SPDX-License-Identifier: Apache-2.0
#include "engine/values/channel_axis.h"

#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <array>
#include <optional>

namespace qs {

namespace {

enum class Channels : std::uint8_t
{
    Second,
    Last,
    Passed, ///< as the first argument's
    Unknown
};

bool holds(std::string_view name, std::span<const std::string_view> words)
{
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return name.find(word) != std::string_view::npos;
    });
}

/// By the operator's own name: "batch_norm" of "aten.batch_norm.default".
Channels channelsOf(const Node& node)
{
    static constexpr std::array<std::string_view, 8> kSecond {
        "conv",          "batch_norm", "group_norm", "instance_norm",
        "pixel_shuffle", "_pool",      "upsample",   "channel_shuffle"};
    static constexpr std::array<std::string_view, 9> kLast {"linear",   "embedding", "layer_norm",
                                                            "rms_norm", "matmul",    "attention",
                                                            "addmm",    "lstm",      "gru"};
    static constexpr std::array<std::string_view, 7> kExchanging {
        "permute", "transpose", "movedim", "moveaxis", "swapaxes", "swapdims", "numpy_T"};
    const auto facts = operatorFacts(node.target);
    using Weighted = OperatorFacts::Weighted;
    if (facts
        && (facts->weighted == Weighted::Convolution
            || facts->weighted == Weighted::TransposedConvolution))
        return Channels::Second;
    if (facts && (facts->weighted == Weighted::Linear || facts->weighted == Weighted::Embedding))
        return Channels::Last;
    const std::string_view target = node.target;
    const auto from = target.find('.');
    if (from == std::string_view::npos)
        return Channels::Unknown;
    const std::string_view name = target.substr(from + 1, target.find('.', from + 1) - from - 1);
    if (holds(name, kSecond))
        return Channels::Second;
    if (holds(name, kLast) || name == "mm" || name == "bmm")
        return Channels::Last;
    return holds(name, kExchanging) || name == "t" ? Channels::Unknown : Channels::Passed;
}

/// The first argument that is a value.
std::optional<ValueRef> firstValue(const Node& node)
{
    for (const auto& argument : node.args)
        if (const ValueRef* ref = argument.value.asRef())
            return *ref;
    return std::nullopt;
}

bool keepsShape(const Graph& graph, ValueRef from, ValueRef to)
{
    const ValueType &before = graph.value(from).type, &after = graph.value(to).type;
    return before.shapeKnown && after.shapeKnown && before.shape == after.shape;
}

} // namespace

int channelAxis(const Graph& graph, ValueRef value, std::size_t rank)
{
    if (rank < 2)
        return -1;
    const int last = int(rank) - 1;
    Channels found = Channels::Passed;
    while (found == Channels::Passed) {
        const Node& node = graph.get(value.node);
        found = node.isOperator() ? channelsOf(node) : Channels::Unknown;
        if (found != Channels::Passed)
            break;
        const auto before = firstValue(node);
        if (!before || !keepsShape(graph, *before, value)) {
            found = Channels::Unknown;
            break;
        }
        value = *before;
    }
    if (found == Channels::Unknown)
        return rank >= 4 ? 1 : last;
    return found == Channels::Second ? 1 : last;
}

int weightChannelAxis(const Node& reader)
{
    const auto facts = operatorFacts(reader.target);
    return facts && facts->weighted == OperatorFacts::Weighted::TransposedConvolution ? 1 : 0;
}

} // namespace qs

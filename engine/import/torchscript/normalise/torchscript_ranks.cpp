// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_ranks.h"

#include "engine/graph/operators/operators.h"
#include "engine/import/given_argument.h"

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

/// The most dimensions of the operands; unknown where one is not known or has fewer than `least`.
std::optional<std::int64_t> widest(const Node& node, const RankOf& rankOf, std::int64_t least)
{
    std::optional<std::int64_t> most = 0;
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) {
            const auto rank = rankOf(ref);
            most = most && rank && *rank >= least ? std::optional(std::max(*most, *rank))
                                                  : std::nullopt;
        });
    return most;
}

/// What is left of the dimensions by a reduction along `dim`, all where there is none.
std::optional<std::int64_t> reducedRank(const Node& node, std::optional<std::int64_t> rank)
{
    const Argument* keep = given(node, "keepdim");
    const Argument* dims = given(node, "dim");
    if (isTrue(keep))
        return rank;
    const auto* list = dims ? dims->asList() : nullptr;
    if (!dims || (list && list->empty()))
        return keep || node.tryArg("other") ? std::nullopt : std::optional<std::int64_t>(0);
    if (!rank || (!list && !dims->asInt()))
        return std::nullopt;
    return *rank - (list ? std::int64_t(list->size()) : 1);
}

/// What flattening from `start_dim` to `end_dim` leaves.
std::optional<std::int64_t> flattenedRank(const Node& node, std::optional<std::int64_t> rank)
{
    if (!rank)
        return rank;
    const auto place = [&](const char* key, std::int64_t usual) {
        const Argument* arg = node.tryArg(key);
        const std::int64_t at = arg && arg->asInt() ? *arg->asInt() : usual;
        return at < 0 ? at + *rank : at;
    };
    return *rank - (place("end_dim", -1) - place("start_dim", 0));
}

} // namespace

std::optional<std::int64_t> inferRank(const Node& node, const RankOf& rankOf)
{
    if (node.outputs.empty() || !node.target.starts_with("aten.")
        || node.outputs[0].type.kind != ValueKind::Tensor)
        return std::nullopt;
    using Rank = std::optional<std::int64_t>;
    const auto operand = [&](std::size_t index, std::int64_t more = 0) -> Rank {
        const auto* ref = index < node.args.size() ? node.args[index].value.asRef() : nullptr;
        const Rank rank = ref ? rankOf(*ref) : std::nullopt;
        return rank ? Rank(*rank + more) : rank;
    };
    const auto listed = [&](std::size_t index) {
        return index < node.args.size() ? node.args[index].value.asList() : nullptr;
    };
    const auto length = [&](std::size_t index) -> Rank {
        const auto* list = listed(index);
        return list ? Rank(std::int64_t(list->size())) : std::nullopt;
    };
    const auto part = [&](std::int64_t more) -> Rank {
        if (const auto* parts = listed(0))
            for (const Argument& one : *parts)
                if (const Rank rank = one.asRef() ? rankOf(*one.asRef()) : std::nullopt)
                    return *rank + more;
        return std::nullopt;
    };
    switch (functionalFactsOf(node.target).rank) {
    case ResultRank::Unknown:
        return std::nullopt;
    case ResultRank::First:
        return operand(0);
    case ResultRank::Second:
        return operand(1);
    case ResultRank::OneMore:
        return operand(0, 1);
    case ResultRank::OneLess:
        return operand(0, -1);
    case ResultRank::Widest:
        return widest(node, rankOf, 0);
    case ResultRank::WidestMatrix:
        return widest(node, rankOf, 2);
    case ResultRank::Reduced:
        return reducedRank(node, operand(0));
    case ResultRank::SizesFirst:
    case ResultRank::Grid:
        return length(0);
    case ResultRank::SizesSecond:
        return length(1);
    case ResultRank::One:
        return 1;
    case ResultRank::Two:
        return 2;
    case ResultRank::Three:
        return 3;
    case ResultRank::Joined:
        return part(0);
    case ResultRank::Stacked:
        return part(1);
    case ResultRank::Flattened:
        return flattenedRank(node, operand(0));
    case ResultRank::Embedded:
        return operand(1, 1);
    case ResultRank::Spectrum: // real and imaginary parts stand in a dimension of their own
        return operand(0, isTrue(given(node, "return_complex")) ? 1 : 2);
    }
    return std::nullopt;
}

std::optional<std::int64_t> rankOfBatch(const Node& node)
{
    const OperatorFamily family = factsOf(node.target).family;
    const std::string_view word = atenWord(node.target);
    const bool isLayer = family == OperatorFamily::Convolution
        || family == OperatorFamily::TransposedConvolution || family == OperatorFamily::Pooling;
    const bool tells = word.size() > 1 && word.back() == 'd' && std::isdigit(word[word.size() - 2]);
    return isLayer && tells ? std::optional<std::int64_t>(word[word.size() - 2] - '0' + 2)
                            : std::nullopt;
}

bool ranksAgree(const Node& node)
{
    return hasTrait(node.target, OperatorTrait::RanksAgree);
}

} // namespace qs

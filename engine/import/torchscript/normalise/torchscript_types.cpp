// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_types.h"

#include "engine/execute/torch_types.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/given_argument.h"

#include <ATen/native/TypeProperties.h>

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

DType firstType(const Node& node, const TypeOf& typeOf)
{
    std::optional<DType> found;
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) {
            if (!found && typeOf(ref).kind == ValueKind::Tensor)
                found = typeOf(ref).dtype;
        });
    return found.value_or(DType::Unknown);
}

/// What PyTorch promotes the operands to (torch.result_type): tensors without dimensions, and
/// numbers, count where they are of a higher kind only. Unknown unless all of it is known.
DType promotedType(const Node& node, const TypeOf& typeOf, const RankOf& rankOf)
{
    at::native::ResultTypeState state;
    bool known = true, ranked = true, same = true;
    std::optional<DType> common;
    const auto take = [&](at::ScalarType& sofar, at::ScalarType type) {
        known = known && type != at::ScalarType::Undefined;
        sofar = sofar == at::ScalarType::Undefined ? type : c10::promoteTypes(sofar, type);
    };
    for (const auto& arg : node.args) {
        forEachRef(arg.value, [&](ValueRef ref) {
            const ValueType& type = typeOf(ref);
            if (type.kind != ValueKind::Tensor) {
                take(state.wrappedResult,
                     type.kind == ValueKind::SymFloat     ? at::kFloat
                         : type.kind == ValueKind::SymInt ? at::kLong
                                                          : at::kBool);
                return;
            }
            const auto rank = rankOf(ref);
            ranked = ranked && rank;
            same = same && (!common || *common == type.dtype);
            common = type.dtype;
            take(rank.value_or(1) > 0 ? state.dimResult : state.zeroResult,
                 toScalarType(type.dtype));
        });
        if (arg.name != "alpha" && arg.name != "dim" && (arg.value.asDouble() || arg.value.asInt()))
            take(state.wrappedResult, arg.value.asDouble() ? at::kFloat : at::kLong);
    }
    if (!known || !common || (!same && !ranked))
        return DType::Unknown;
    return fromScalarType(at::native::result_type(state));
}

/// The complex type of the same precision; of integers that of float32.
DType complexOf(DType dtype)
{
    if (dtype == DType::Unknown)
        return dtype;
    const at::ScalarType type = toScalarType(dtype);
    return fromScalarType(c10::isIntegralType(type, true) ? at::kComplexFloat
                                                          : c10::toComplexType(type));
}

/// What the parts of a complex type are; others are themselves.
DType realOf(DType dtype)
{
    return fromScalarType(c10::toRealValueType(toScalarType(dtype)));
}

/// What whole numbers become float32 in.
DType floatingOf(DType dtype)
{
    return c10::isIntegralType(toScalarType(dtype), true) ? DType::Float32 : dtype;
}

/// What stft, or its inverse, makes of the type.
DType spectrumType(const Node& node, bool forward, DType of)
{
    const bool isComplex = isTrue(given(node, "return_complex"));
    return isComplex && of != DType::Unknown ? complexOf(of)
        : forward && !isComplex              ? of
                                             : realOf(of);
}

/// The type that the operator's row says, of its operands.
DType typeByTable(const Node& node, ResultType type, const TypeOf& typeOf, const RankOf& rankOf)
{
    const auto floating = [&] {
        const DType promoted = promotedType(node, typeOf, rankOf);
        // Which keeps whole numbers.
        return given(node, "rounding_mode") ? promoted : floatingOf(promoted);
    };
    switch (type) {
    case ResultType::Unknown:
        return DType::Unknown;
    case ResultType::First:
        return firstType(node, typeOf);
    case ResultType::Bool:
        return DType::Bool;
    case ResultType::Index:
        return isTrue(given(node, "out_int32")) ? DType::Int32 : DType::Int64;
    case ResultType::Promoted:
        return promotedType(node, typeOf, rankOf);
    case ResultType::Floating:
        return floating();
    case ResultType::RealFloating:
        return realOf(floating());
    case ResultType::Sum: {
        const DType first = firstType(node, typeOf);
        return floatingOf(first) == first ? first : DType::Int64;
    }
    case ResultType::Complex:
        return complexOf(firstType(node, typeOf));
    case ResultType::Real:
        return realOf(firstType(node, typeOf));
    case ResultType::Spectrum:
    case ResultType::Signal:
        return spectrumType(node, type == ResultType::Spectrum, firstType(node, typeOf));
    case ResultType::Float32:
        return DType::Float32;
    }
    return DType::Unknown;
}

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

/// The number of dimensions of the node's first output.
std::optional<std::int64_t> firstRank(const Node& node, const RankOf& rankOf)
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

/// A convolution or pooling takes one sample or a batch; where nothing determines which, as in a
/// scripted model, the number of dimensions of a batch. Nothing for other operators.
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

} // namespace

void inferTypes(Node& node, const TypeOf& typeOf, const RankOf& rankOf)
{
    if (node.outputs.empty() || !node.target.starts_with("aten."))
        return;
    const OperatorFacts& facts = functionalFactsOf(node.target);
    DType dtype = DType::Unknown;
    if (const Argument* wanted = given(node, "dtype"))
        dtype = wanted->asDType() ? *wanted->asDType() : DType::Unknown;
    else if (const Argument* other = given(node, "other"); other && atenWord(node.target) == "to")
        dtype = other->asRef() ? typeOf(*other->asRef()).dtype : DType::Unknown;
    else
        dtype = typeByTable(node, facts.type, typeOf, rankOf);
    for (Value& value : node.outputs)
        if (value.type.isUntyped())
            value.type.dtype = dtype;
    if (facts.traits.has(OperatorTrait::GivesIndices) && node.outputs.size() == 2) {
        node.outputs[0].type.dtype = firstType(node, typeOf);
        node.outputs[1].type.dtype = DType::Int64;
    }
}

ResultRanks inferRanks(const Node& node, const RankOf& rankOf)
{
    ResultRanks ranks {std::vector<std::optional<std::int64_t>>(node.outputs.size()), false};
    auto first = firstRank(node, rankOf);
    if (!first) {
        first = rankOfBatch(node);
        ranks.areAssumed = first.has_value();
    }
    if (first && !node.outputs.empty())
        std::fill_n(ranks.counts.begin(),
                    hasTrait(node.target, OperatorTrait::RanksAgree) ? ranks.counts.size() : 1,
                    first);
    return ranks;
}

} // namespace qs

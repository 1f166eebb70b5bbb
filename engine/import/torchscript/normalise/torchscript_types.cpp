// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_types.h"

#include "engine/graph/operators/operators.h"
#include "engine/import/given_argument.h"
#include "engine/import/type_promotion.h"

#include <string>

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
    std::array<std::optional<DType>, 3> classes; // tensors, tensors without dimensions, numbers
    bool known = true;
    const auto take = [&](std::size_t which, DType dtype) {
        known = known && dtype != DType::Unknown;
        if (known)
            classes[which] = classes[which] ? promotedTypes(*classes[which], dtype) : dtype;
    };
    bool ranked = true, same = true;
    std::optional<DType> common;
    for (const auto& arg : node.args) {
        forEachRef(arg.value, [&](ValueRef ref) {
            const ValueType& type = typeOf(ref);
            if (type.kind != ValueKind::Tensor) {
                take(2,
                     type.kind == ValueKind::SymFloat     ? DType::Float32
                         : type.kind == ValueKind::SymInt ? DType::Int64
                                                          : DType::Bool);
                return;
            }
            const auto rank = rankOf(ref);
            ranked = ranked && rank;
            same = same && (!common || *common == type.dtype);
            common = type.dtype;
            take(rank.value_or(1) > 0 ? 0 : 1, type.dtype);
        });
        if (arg.name != "alpha" && arg.name != "dim" && (arg.value.asDouble() || arg.value.asInt()))
            take(2, arg.value.asDouble() ? DType::Float32 : DType::Int64);
    }
    if (!known || !common || (!same && !ranked))
        return DType::Unknown;
    std::optional<DType> result;
    for (const auto& dtype : classes)
        if (dtype && (!result || typeKind(*dtype) > typeKind(*result)))
            result = dtype;
    return *result;
}

/// The complex type of the same precision; of integers that of float32.
DType complexOf(DType dtype)
{
    const bool wide = dtype == DType::Float64 || dtype == DType::Complex128;
    const bool narrow = dtype == DType::Unknown || dtype == DType::Float16;
    return wide ? DType::Complex128 : narrow ? DType::Unknown : DType::Complex64;
}

/// What the parts of a complex type are; others are themselves.
DType realOf(DType dtype)
{
    return dtype == DType::Complex64 ? DType::Float32
        : dtype == DType::Complex128 ? DType::Float64
                                     : dtype;
}

/// What whole numbers become float32 in.
DType floatingOf(DType dtype)
{
    return dtype != DType::Unknown && typeKind(dtype) < typeKind(DType::Float32) ? DType::Float32
                                                                                 : dtype;
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

} // namespace qs

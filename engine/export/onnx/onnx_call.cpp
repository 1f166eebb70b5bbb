// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_call.h"

#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

const ValueType kUnknownType {ValueKind::None, DType::Unknown, false, {}, {}, {}, {}};

DType ownDType(const ValueType& type)
{
    switch (type.kind) {
    case ValueKind::SymInt:
        return DType::Int64;
    case ValueKind::SymFloat:
        return DType::Float64;
    case ValueKind::SymBool:
        return DType::Bool;
    default:
        return type.dtype;
    }
}

} // namespace

void OnnxCall::refuse(const std::string& why)
{
    if (m_refusal.empty())
        m_refusal = why;
}

const Argument* OnnxCall::given(std::string_view name) const
{
    const Argument* argument = m_node.tryArg(name);
    return argument && !argument->isNone() ? argument : nullptr;
}

std::string OnnxCall::literal(const Argument& argument, DType as)
{
    double number = 0;
    DType own = DType::Float32;
    if (const auto* i = argument.asInt()) {
        if (as == DType::Unknown || as == DType::Int64)
            return constant(at::scalar_tensor(*i, at::kLong), "number");
        number = double(*i);
    } else if (const auto* f = argument.asDouble()) {
        number = *f;
    } else if (const auto* b = argument.asBool()) {
        number = *b;
        own = DType::Bool;
    } else {
        refuse("one of its arguments is neither a tensor nor a number");
        return {};
    }
    return scalar(number, as == DType::Unknown ? own : as);
}

std::string OnnxCall::value(const Argument& argument, DType as)
{
    if (argument.isNone())
        return {};
    const ValueRef* ref = argument.asRef();
    if (!ref)
        return literal(argument, as);
    auto made = m_builder.value(*ref);
    if (!made) {
        refuse(made.error().message);
        return {};
    }
    const DType told = ownDType(m_builder.graph().value(*ref).type);
    const DType own = told == DType::Unknown ? DType::Float32 : told;
    // A constant number is stored in the requested type, without a Cast.
    if (as != DType::Unknown && own != as)
        if (const auto tensor = m_builder.constant(*ref); tensor && tensor->numel() == 1)
            return constant(tensor->to(toScalarType(as)), "number");
    return as == DType::Unknown || own == as ? *made : cast(*made, as);
}

std::string OnnxCall::in(std::string_view name, DType as)
{
    const Argument* argument = given(name);
    return argument ? value(*argument, as) : std::string();
}

std::vector<std::string> OnnxCall::inList(std::string_view name, DType as)
{
    std::vector<std::string> out;
    const Argument* argument = given(name);
    if (!argument)
        return out;
    const auto* list = argument->asList();
    if (!list)
        refuse("its '" + std::string(name) + "' is a list that is made as the model runs");
    else
        for (const Argument& item : *list)
            out.push_back(value(item, as));
    return out;
}

std::optional<std::int64_t> OnnxCall::fixed(const Argument& argument)
{
    if (const auto* i = argument.asInt())
        return *i;
    if (const auto* b = argument.asBool())
        return *b;
    const ValueRef* ref = argument.asRef();
    const auto tensor = ref ? m_builder.constant(*ref) : std::nullopt;
    if (tensor && tensor->numel() == 1 && !tensor->is_floating_point())
        return tensor->item().toLong();
    return std::nullopt;
}

std::int64_t OnnxCall::integer(std::string_view name, std::int64_t otherwise)
{
    const Argument* argument = given(name);
    if (!argument)
        return otherwise;
    const auto value = fixed(*argument);
    if (!value)
        refuse("its '" + std::string(name) + "' is not a fixed number");
    return value.value_or(otherwise);
}

double OnnxCall::number(std::string_view name, double otherwise)
{
    const Argument* argument = given(name);
    if (!argument)
        return otherwise;
    if (const auto* f = argument->asDouble())
        return *f;
    if (const auto value = fixed(*argument))
        return double(*value);
    const ValueRef* ref = argument->asRef();
    if (const auto tensor = ref ? m_builder.constant(*ref) : std::nullopt;
        tensor && tensor->numel() == 1)
        return tensor->item().toDouble();
    refuse("its '" + std::string(name) + "' is not a fixed number");
    return otherwise;
}

bool OnnxCall::flag(std::string_view name, bool otherwise)
{
    return integer(name, otherwise) != 0;
}

std::string OnnxCall::text(std::string_view name, const std::string& otherwise)
{
    const Argument* argument = given(name);
    return argument && argument->asString() ? *argument->asString() : otherwise;
}

std::vector<std::int64_t> OnnxCall::integers(std::string_view name,
                                             std::vector<std::int64_t> otherwise)
{
    const Argument* argument = given(name);
    if (!argument)
        return otherwise;
    const auto* list = argument->asList();
    const Argument::List one {*argument};
    std::vector<std::int64_t> out;
    for (const Argument& item : list ? *list : one) {
        const auto value = fixed(item);
        if (!value)
            refuse("its '" + std::string(name) + "' holds numbers that are not fixed");
        out.push_back(value.value_or(0));
    }
    return out;
}

std::string OnnxCall::size(const Argument& argument)
{
    if (const auto value = fixed(argument))
        return ints({*value});
    return emit("Reshape", {value(argument, DType::Int64), ints({1})});
}

std::string OnnxCall::sizes(const Argument::List& list)
{
    std::vector<std::string> parts;
    std::vector<std::int64_t> run;
    const auto flush = [&] {
        if (!run.empty())
            parts.push_back(ints(run));
        run.clear();
    };
    for (const Argument& item : list) {
        if (const auto value = fixed(item)) {
            run.push_back(*value);
            continue;
        }
        flush();
        parts.push_back(size(item));
    }
    if (parts.empty())
        return ints(run);
    flush();
    return parts.size() == 1 ? parts[0] : emit("Concat", parts, {{"axis", 0}});
}

std::string OnnxCall::sizes(const Argument& argument)
{
    if (const auto* list = argument.asList())
        return sizes(*list);
    return emit("Reshape", {value(argument, DType::Int64), ints({-1})});
}

ValueType OnnxCall::type(std::string_view name) const
{
    const Argument* argument = given(name);
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    return ref ? m_builder.typeOf(*ref) : kUnknownType;
}

const ValueType& OnnxCall::resultType(std::size_t index) const
{
    return index < m_node.outputs.size() ? m_node.outputs[index].type : kUnknownType;
}

DType OnnxCall::dtype(std::string_view name) const
{
    const Argument* argument = given(name);
    if (argument && argument->asRef())
        return ownDType(type(name));
    if (argument && argument->asInt())
        return DType::Int64;
    if (argument && argument->asBool())
        return DType::Bool;
    return argument && argument->asDouble() ? DType::Float32 : DType::Unknown;
}

DType OnnxCall::resultDType() const
{
    const DType own = ownDType(resultType());
    return own == DType::Unknown ? DType::Float32 : own;
}

int OnnxCall::rank(std::string_view name)
{
    const ValueType known = type(name);
    if (known.kind == ValueKind::Tensor && known.shapeKnown)
        return int(known.shape.size());
    refuse("the rank of its '" + std::string(name) + "' is unknown");
    return 1;
}

std::int64_t OnnxCall::wrapped(std::int64_t dim, int rank)
{
    return dim < 0 ? dim + std::max(rank, 1) : dim;
}

std::int64_t OnnxCall::axis(std::string_view name, std::int64_t otherwise, std::string_view of)
{
    const std::int64_t dim = integer(name, otherwise);
    return dim < 0 ? wrapped(dim, rank(of)) : dim;
}

std::optional<std::int64_t> OnnxCall::fixedSize(std::string_view name, std::int64_t dim) const
{
    const ValueType known = type(name);
    const auto count = std::int64_t(known.shape.size());
    const std::int64_t at = dim < 0 ? dim + count : dim;
    if (!known.shapeKnown || at < 0 || at >= count)
        return std::nullopt;
    const Dim& size = known.shape[std::size_t(at)];
    return size.isSymbolic() || size.size < 0 ? std::nullopt
                                              : std::optional<std::int64_t>(size.size);
}

} // namespace qs

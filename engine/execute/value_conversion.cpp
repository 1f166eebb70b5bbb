// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/value_conversion.h"

#include "engine/base/each_of.h"
#include "engine/execute/frame.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/op_table.h"
#include "engine/execute/torch_types.h"

#include <ATen/ScalarOps.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <algorithm>

namespace qs {

namespace {

template<class Code>
Result<at::IValue> codeValue(std::optional<Code> code, const std::string& what,
                             const std::string& name)
{
    if (!code)
        return fail(ErrorCode::BadInput, "unknown " + what + " '" + name + "'");
    return at::IValue(std::int64_t(*code));
}

/// A constant or a read value; not a list.
Result<at::IValue> single(const Argument& argument, const at::Device& device, const ReadValue& read)
{
    if (const auto* ref = argument.asRef())
        return read(*ref);
    if (const auto* v = argument.asInt())
        return at::IValue(*v);
    if (const auto* v = argument.asDouble())
        return at::IValue(*v);
    if (const auto* v = argument.asBool())
        return at::IValue(*v);
    if (const auto* v = argument.asString())
        return at::IValue(*v);
    if (const auto* v = argument.asDType())
        return at::IValue(std::int64_t(toScalarType(*v)));
    if (const auto* v = std::get_if<Device>(&argument.value))
        return at::IValue(v->type == "meta" ? toTorchDevice(*v) : device);
    if (const auto* v = std::get_if<ComplexNumber>(&argument.value))
        return at::IValue(c10::complex<double>(v->real, v->imaginary));
    if (const auto* v = std::get_if<LayoutTag>(&argument.value))
        return codeValue(toLayout(v->name), "layout", v->name);
    if (const auto* v = std::get_if<MemoryFormatTag>(&argument.value))
        return codeValue(toMemoryFormat(v->name), "memory format", v->name);
    return at::IValue();
}

/// A number as PyTorch treats a Python number in arithmetic: it does not widen the other operand.
at::IValue numberTensor(const at::IValue& number)
{
    at::Tensor tensor = c10::scalar_to_tensor(number.toScalar());
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    return tensor;
}

at::IValue itemOf(const at::IValue& value)
{
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().numel() == 1)
        return at::IValue(value.toTensor().item());
    return value;
}

at::IValue coerce(at::IValue value, c10::TypeKind kind)
{
    switch (kind) {
    case c10::TypeKind::TensorType:
        if (value.isNone())
            return at::Tensor();
        return value.isTensor() || !value.isScalar() ? value : numberTensor(value);
    case c10::TypeKind::FloatType:
        value = itemOf(value);
        return value.isInt() ? at::IValue(double(value.toInt()))
            : value.isBool() ? at::IValue(double(value.toBool()))
                             : value;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
        value = itemOf(value);
        return value.isBool() ? at::IValue(std::int64_t(value.toBool())) : value;
    case c10::TypeKind::BoolType:
        value = itemOf(value);
        return value.isInt() ? at::IValue(value.toInt() != 0) : value;
    case c10::TypeKind::NumberType:
        return itemOf(value);
    default:
        return value;
    }
}

Result<at::IValue> convertTo(const Argument& argument, const c10::TypePtr& type,
                             std::optional<std::int32_t> fill, const at::Device& device,
                             const ReadValue& read)
{
    if (type->kind() == c10::TypeKind::OptionalType) {
        if (argument.isNone())
            return at::IValue();
        const auto& inner = type->castRaw<c10::OptionalType>()->getElementType();
        if (const auto* ref = argument.asRef()) {
            QS_TRY(at::IValue value, read(*ref));
            if (value.isNone())
                return value;
        }
        return convertTo(argument, inner, fill, device, read);
    }
    if (type->kind() == c10::TypeKind::ListType && !argument.isNone()) {
        const auto& element = type->castRaw<c10::ListType>()->getElementType();
        if (argument.asRef()) {
            QS_TRY(at::IValue value, single(argument, device, read));
            if (value.isList())
                return value;
        }
        if (element->kind() == c10::TypeKind::VarType) // typed by the elements
            return convertUntyped(argument, device, read);
        c10::impl::GenericList list(element);
        if (const auto* items = argument.asList()) {
            list.reserve(items->size());
            for (const auto& item : *items) {
                QS_TRY(at::IValue value, convertTo(item, element, {}, device, read));
                list.push_back(std::move(value));
            }
        } else {
            QS_TRY(const at::IValue value, convertTo(argument, element, {}, device, read));
            for (std::int32_t i = 0; i < fill.value_or(1); ++i)
                list.push_back(value);
        }
        return at::IValue(list);
    }
    if (argument.asList())
        return convertUntyped(argument, device, read);
    QS_TRY(at::IValue value, single(argument, device, read));
    return coerce(std::move(value), type->kind());
}

} // namespace

Argument constantArgument(const at::IValue& value, const c10::TypePtr& type)
{
    const auto optional = type->cast<c10::OptionalType>();
    const c10::TypePtr wanted = optional ? optional->getElementType() : type;
    if (value.isInt()) {
        const std::int64_t number = value.toInt();
        switch (wanted->kind()) {
        case c10::TypeKind::ScalarTypeType:
            return fromScalarType(at::ScalarType(number));
        case c10::TypeKind::LayoutType:
            return LayoutTag {layoutName(at::Layout(number))};
        case c10::TypeKind::MemoryFormatType:
            return MemoryFormatTag {memoryFormatName(at::MemoryFormat(number))};
        default:
            return number;
        }
    }
    if (value.isDouble())
        return value.toDouble();
    if (value.isBool())
        return value.toBool();
    if (value.isString())
        return value.toStringRef();
    if (value.isDevice())
        return Device {at::DeviceTypeName(value.toDevice().type(), true),
                       value.toDevice().has_index() ? int(value.toDevice().index()) : -1};
    if (value.isComplexDouble())
        return ComplexNumber {value.toComplexDouble().real(), value.toComplexDouble().imag()};
    if (value.isList()) {
        const auto list = wanted->cast<c10::ListType>();
        Argument::List items;
        for (const at::IValue& item : value.toListRef())
            items.push_back(
                constantArgument(item, list ? list->getElementType() : c10::AnyType::get()));
        return items;
    }
    return {};
}

Result<at::IValue> convertArgument(const Argument& argument, const c10::Argument& slot,
                                   const at::Device& device, const ReadValue& read)
{
    return convertTo(argument, slot.type(), slot.N(), device, read);
}

Result<at::IValue> convertUntyped(const Argument& argument, const at::Device& device,
                                  const ReadValue& read)
{
    const auto* items = argument.asList();
    if (!items)
        return single(argument, device, read);
    QS_TRY(std::vector<at::IValue> values, eachOf(*items, [&](const Argument& item) {
               return convertUntyped(item, device, read);
           }));
    const auto all = [&](auto predicate) {
        return !values.empty() && std::all_of(values.begin(), values.end(), predicate);
    };
    c10::TypePtr element = c10::AnyType::get();
    if (all([](const at::IValue& v) { return v.isInt(); }))
        element = c10::IntType::get();
    else if (all([](const at::IValue& v) { return v.isDouble(); }))
        element = c10::FloatType::get();
    else if (all([](const at::IValue& v) { return v.isBool(); }))
        element = c10::BoolType::get();
    else if (all([](const at::IValue& v) { return v.isString(); }))
        element = c10::StringType::get();
    else if (all([](const at::IValue& v) { return v.isTensor(); }))
        element = c10::TensorType::get();
    else if (all([](const at::IValue& v) { return v.isTensor() || v.isNone(); }))
        element = c10::OptionalType::ofTensor();
    c10::impl::GenericList list(element);
    for (auto& value : values)
        list.push_back(std::move(value));
    return at::IValue(list);
}

Result<void> convertFlat(const Argument& argument, const at::Device& device, const ReadValue& read,
                         std::vector<at::IValue>& out)
{
    if (const auto* items = argument.asList()) {
        for (const auto& item : *items)
            QS_CHECK(convertFlat(item, device, read, out));
        return {};
    }
    QS_TRY(at::IValue value, convertUntyped(argument, device, read));
    out.push_back(std::move(value));
    return {};
}

Result<at::IValue> toIValue(const Argument& argument, const Frame& frame)
{
    return convertUntyped(argument, at::kCPU, [&](ValueRef ref) -> Result<at::IValue> {
        if (const auto* value = frame.tryGet(ref))
            return *value;
        return fail(ErrorCode::Internal,
                    "no value for node " + std::to_string(ref.node.value()) + " in the frame");
    });
}

std::vector<float> floatsOf(const at::Tensor& tensor)
{
    const at::Tensor plain = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
    return {plain.const_data_ptr<float>(), plain.const_data_ptr<float>() + plain.numel()};
}

ValueType typeOfTensor(const at::Tensor& tensor)
{
    ValueType type;
    type.dtype = fromScalarType(tensor.scalar_type());
    type.shapeKnown = true;
    for (const std::int64_t size : tensor.sizes())
        type.shape.push_back(Dim::fixed(size));
    return type;
}

bool effectiveArgument(const Node& node, std::string_view name, Argument& out)
{
    if (const Argument* given = node.tryArg(name)) {
        out = *given;
        return true;
    }
    const auto op = findOperator(node.target);
    if (!op)
        return false;
    for (const auto& argument : op->schema().arguments()) {
        if (argument.name() != name)
            continue;
        out = argument.default_value() ? constantArgument(*argument.default_value()) : Argument();
        return true;
    }
    return false;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/torch_types.h"
#include "engine/import/torchscript/normalise/torchscript_spelling.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <ATen/core/List.h>

namespace qs {

c10::TypePtr unwrapped(const c10::TypePtr& type)
{
    const auto optional = type->cast<c10::OptionalType>();
    return optional ? optional->getElementType() : type;
}

bool isListType(const c10::TypePtr& type)
{
    return unwrapped(type)->kind() == c10::TypeKind::ListType;
}

ValueType runtimeType(const c10::TypePtr& given)
{
    const c10::TypePtr type = unwrapped(given);
    ValueType made;
    switch (type->kind()) {
    case c10::TypeKind::TensorType:
        break;
    case c10::TypeKind::IntType:
        made.kind = ValueKind::SymInt;
        break;
    case c10::TypeKind::FloatType:
    case c10::TypeKind::NumberType:
        made.kind = ValueKind::SymFloat;
        break;
    case c10::TypeKind::BoolType:
        made.kind = ValueKind::SymBool;
        break;
    case c10::TypeKind::NoneType:
        made.kind = ValueKind::None;
        break;
    case c10::TypeKind::TupleType:
    case c10::TypeKind::ListType:
    case c10::TypeKind::DictType:
        made.kind = ValueKind::Tuple;
        made.className = type->annotation_str();
        break;
    default:
        made.kind = ValueKind::Custom;
        made.className = type->annotation_str();
    }
    return made;
}

Argument constantArgument(const at::IValue& value, const c10::TypePtr& real)
{
    const c10::TypePtr wanted = unwrapped(real);
    if (value.isInt()) {
        const std::int64_t number = value.toInt();
        switch (wanted->kind()) {
        case c10::TypeKind::ScalarTypeType:
            return fromScalarType(at::ScalarType(number));
        case c10::TypeKind::LayoutType:
            return LayoutTag {layoutName(number)};
        case c10::TypeKind::MemoryFormatType:
            return MemoryFormatTag {memoryFormatName(number)};
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

std::optional<at::IValue> wholeConstant(const ScriptItem& item)
{
    if (const auto* value = knownValue(item))
        return *value;
    const ScriptContainer* held = containerOf(item);
    if (!held || held->runtime || held->sizesOf || held->kind == ScriptContainer::Kind::Object
        || held->kind == ScriptContainer::Kind::Dict)
        return std::nullopt;
    std::vector<at::IValue> parts;
    for (const ScriptItem& part : held->items) {
        auto value = wholeConstant(part);
        if (!value)
            return std::nullopt;
        parts.push_back(std::move(*value));
    }
    if (held->kind == ScriptContainer::Kind::Tuple)
        return c10::ivalue::Tuple::create(std::move(parts));
    const auto type = held->type->cast<c10::ListType>();
    c10::impl::GenericList list(type ? type->getElementType() : c10::AnyType::get());
    for (auto& part : parts)
        list.push_back(std::move(part));
    return at::IValue(std::move(list));
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/typed_arguments.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/edit/operator_catalog.h"
#include "engine/execute/op_table.h"

#include <ATen/core/jit_type.h>

#include <algorithm>

namespace qs {

namespace {

using c10::TypeKind;

/// Returns the type as in schemas: "int[2]", "Tensor?".
std::string typeText(const c10::Argument& slot)
{
    std::string text = slot.real_type()->str();
    if (slot.N())
        if (const auto bracket = text.find("[]"); bracket != std::string::npos)
            text.insert(bracket + 1, std::to_string(*slot.N()));
    return text;
}

/// Converts one literal to the type of a schema's slot.
class LiteralReader
{
public:
    LiteralReader(const std::string& target, const c10::Argument& slot, const FindValue& find)
        : m_target(target)
        , m_slot(slot)
        , m_find(find)
    {
    }

    Result<Argument> read(const Json& json) const { return read(json, *m_slot.real_type()); }

private:
    tl::unexpected<Error> misfit(const Json& json) const
    {
        return fail(makeError(ErrorCode::BadInput,
                              "argument '" + m_slot.name() + "' of " + m_target + " takes "
                                  + typeText(m_slot) + ", not " + shortened(json.dump(), 60)));
    }

    Result<Argument> read(const Json& json, const c10::Type& type) const
    {
        if (type.kind() == TypeKind::OptionalType)
            return json.is_null()
                ? Result<Argument>(Argument())
                : read(json, *type.castRaw<c10::OptionalType>()->getElementType());
        if (json.is_object())
            return readValue(json, type);
        if (type.kind() == TypeKind::ListType)
            return readList(json, *type.castRaw<c10::ListType>()->getElementType());
        switch (type.kind()) {
        case TypeKind::IntType:
        case TypeKind::SymIntType:
            if (json.is_number_integer())
                return Argument(json.get<std::int64_t>());
            break;
        case TypeKind::FloatType:
        case TypeKind::SymFloatType:
            if (json.is_number())
                return Argument(json.get<double>());
            break;
        case TypeKind::NumberType:
            if (json.is_number_integer())
                return Argument(json.get<std::int64_t>());
            if (json.is_number())
                return Argument(json.get<double>());
            if (json.is_boolean())
                return Argument(json.get<bool>());
            break;
        case TypeKind::BoolType:
        case TypeKind::SymBoolType:
            if (json.is_boolean())
                return Argument(json.get<bool>());
            break;
        case TypeKind::StringType:
            if (json.is_string())
                return Argument(json.get<std::string>());
            break;
        case TypeKind::ScalarTypeType:
            if (json.is_string())
                if (const auto dtype = dtypeFromName(json.get<std::string>()))
                    return Argument(*dtype);
            break;
        case TypeKind::LayoutType:
            if (json.is_string())
                return Argument(LayoutTag {json.get<std::string>()});
            break;
        case TypeKind::MemoryFormatType:
            if (json.is_string())
                return Argument(MemoryFormatTag {json.get<std::string>()});
            break;
        case TypeKind::DeviceObjType:
            if (json.is_string())
                return Argument(Device {json.get<std::string>(), -1});
            break;
        case TypeKind::TensorType: // a number represents a scalar tensor, as in Python
            if (json.is_number_integer())
                return Argument(json.get<std::int64_t>());
            if (json.is_number())
                return Argument(json.get<double>());
            break;
        default:
            break;
        }
        return misfit(json);
    }

    Result<Argument> readValue(const Json& json, const c10::Type& type) const
    {
        const bool takesValues = type.kind() == TypeKind::TensorType
            || type.kind() == TypeKind::IntType || type.kind() == TypeKind::SymIntType
            || type.kind() == TypeKind::NumberType || type.kind() == TypeKind::FloatType
            || type.kind() == TypeKind::ListType;
        if (!takesValues || json.size() != 1 || !json.contains("value"))
            return misfit(json);
        const JsonPlace place(json, {}, m_slot.name());
        QS_TRY(const ValueAddress address, readAddress(place.key("value")));
        QS_TRY(const ValueRef value, m_find(address));
        return Argument(value);
    }

    Result<Argument> readList(const Json& json, const c10::Type& element) const
    {
        if (!json.is_array()) { // one number expands to an int[2]
            if (!m_slot.N())
                return misfit(json);
            return read(json, element);
        }
        if (m_slot.N() && json.size() > std::size_t(*m_slot.N()))
            return misfit(json);
        Argument::List list;
        for (const Json& item : json) {
            QS_TRY(Argument read, this->read(item, element));
            list.push_back(std::move(read));
        }
        return Argument(std::move(list));
    }

    const std::string& m_target;
    const c10::Argument& m_slot;
    const FindValue& m_find;
};

Result<c10::OperatorHandle> usableOperator(const std::string& target)
{
    const auto op = findOperator(target);
    if (!op)
        return fail(
            makeError(ErrorCode::BadInput, "operator '" + target + "' is unknown to this LibTorch")
                .withHint(suggestName(target, operatorTargets(), 6)));
    if (isForbiddenOperator(target))
        return fail(ErrorCode::Unsupported,
                    "'" + target + "' accesses files, processes or the terminal; it is never run");
    if (mutatesArguments(op->schema()))
        return fail(
            makeError(ErrorCode::Unsupported, target + " writes to what it reads")
                .withHint(
                    "use the operator without the underscore: graphs have no in-place operators"));
    return *op;
}

Result<const c10::Argument*> slotNamed(const c10::FunctionSchema& schema, const std::string& target,
                                       const std::string& name)
{
    std::vector<std::string> names;
    for (const c10::Argument& slot : schema.arguments()) {
        if (slot.name() == name)
            return &slot;
        names.push_back(slot.name());
    }
    return fail(makeError(ErrorCode::BadInput, target + " has no argument '" + name + "'")
                    .withHint(suggestName(name, names)));
}

bool takesTensor(const c10::Argument& slot)
{
    const c10::Type* type = slot.type().get();
    if (type->kind() == TypeKind::OptionalType)
        type = type->castRaw<c10::OptionalType>()->getElementType().get();
    return type->kind() == TypeKind::TensorType;
}

bool reads(const Argument& argument, ValueRef value)
{
    bool found = false;
    forEachRef(argument, [&](ValueRef ref) { found = found || ref == value; });
    return found;
}

} // namespace

Result<std::vector<NamedArgument>> typedArguments(const std::string& target,
                                                  const std::string& json,
                                                  const std::vector<NamedArgument>& kept,
                                                  std::optional<ValueRef> subject,
                                                  const FindValue& find)
{
    QS_TRY(const c10::OperatorHandle op, usableOperator(target));
    const c10::FunctionSchema& schema = op.schema();
    const Json given = json.empty() ? Json::object() : Json::parse(json, nullptr, false);
    if (!given.is_object())
        return fail(ErrorCode::BadInput, R"(arguments are an object: {"min": 0, "max": 6})");
    for (const auto& [name, value] : given.items())
        QS_CHECK(slotNamed(schema, target, name));
    std::vector<std::optional<Argument>> found(schema.arguments().size());
    bool placed = !subject;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const c10::Argument& slot = schema.arguments()[i];
        if (given.contains(slot.name())) {
            QS_TRY(found[i], LiteralReader(target, slot, find).read(given.at(slot.name())));
            placed = placed || reads(*found[i], *subject);
            continue;
        }
        for (const NamedArgument& before : kept)
            if (before.name == slot.name())
                found[i] = before.value;
        placed = placed || (found[i] && reads(*found[i], *subject));
    }
    std::vector<NamedArgument> out;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const c10::Argument& slot = schema.arguments()[i];
        if (!found[i] && !placed && takesTensor(slot)) {
            found[i] = Argument(*subject);
            placed = true;
        }
        if (found[i])
            out.push_back({slot.name(), std::move(*found[i])});
        else if (!slot.default_value())
            return fail(makeError(ErrorCode::BadInput,
                                  target + " needs its argument '" + slot.name() + "' ("
                                      + typeText(slot) + ")")
                            .withHint("give it under 'args'"));
    }
    return out;
}

} // namespace qs

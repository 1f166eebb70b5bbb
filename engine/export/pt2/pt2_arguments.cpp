// SPDX-License-Identifier: Apache-2.0
#include "engine/export/pt2/pt2_arguments.h"

#include "engine/base/text.h"
#include "engine/execute/control/higher_order.h"
#include "engine/execute/op_table.h"
#include "engine/import/pt2/pt2_codes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace qs {

namespace {

constexpr int kPositional = 1;
constexpr int kKeyword = 2;

Pt2Json real(double value)
{
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

Result<Pt2Json> constant(const Argument& argument)
{
    if (argument.isNone())
        return Pt2Json {{"as_none", true}};
    if (const auto* v = argument.asBool())
        return Pt2Json {{"as_bool", *v}};
    if (const auto* v = argument.asInt())
        return Pt2Json {{"as_int", *v}};
    if (const auto* v = argument.asDouble())
        return Pt2Json {{"as_float", real(*v)}};
    if (const auto* v = argument.asString())
        return Pt2Json {{"as_string", *v}};
    if (const auto* v = argument.asDType()) {
        QS_TRY(const int number, pt2ScalarType(*v));
        return Pt2Json {{"as_scalar_type", number}};
    }
    if (const auto* v = std::get_if<Device>(&argument.value))
        return Pt2Json {{"as_device", pt2Device(*v)}};
    if (const auto* v = std::get_if<LayoutTag>(&argument.value))
        return Pt2Json {{"as_layout", pt2Code(kPt2Layouts, v->name)}};
    if (const auto* v = std::get_if<MemoryFormatTag>(&argument.value))
        return Pt2Json {{"as_memory_format", pt2Code(kPt2MemoryFormats, v->name)}};
    if (const auto* v = std::get_if<ComplexNumber>(&argument.value))
        return Pt2Json {{"as_complex", {{"real", real(v->real)}, {"imag", real(v->imaginary)}}}};
    return fail(ErrorCode::Unsupported, "an argument has no spelling in the .pt2 format");
}

/// Kinds of a list's members, from the items, else from the
/// schema.
struct Members
{
    bool tensors = false, none = false, symbols = false, reals = false, bools = false,
         strings = false, lists = false;
    ValueKind symbol = ValueKind::SymInt;
};

Members membersOf(const Graph& graph, const Argument::List& list)
{
    Members out;
    for (const Argument& item : list) {
        if (const auto* ref = item.asRef()) {
            const ValueKind kind = graph.value(*ref).type.kind;
            (kind == ValueKind::Tensor ? out.tensors : out.symbols) = true;
            if (kind != ValueKind::Tensor)
                out.symbol = kind;
        }
        out.none |= item.isNone();
        out.reals |= item.asDouble() != nullptr;
        out.bools |= item.asBool() != nullptr;
        out.strings |= item.asString() != nullptr;
        out.lists |= item.asList() != nullptr;
    }
    return out;
}

c10::TypeKind elementKind(c10::TypePtr type)
{
    if (type)
        if (const auto optional = type->cast<c10::OptionalType>())
            type = optional->getElementType();
    if (type)
        if (const auto list = type->cast<c10::ListType>()) {
            const auto element = list->getElementType();
            if (const auto optional = element->cast<c10::OptionalType>())
                return optional->getElementType()->kind();
            return element->kind();
        }
    return c10::TypeKind::IntType;
}

Pt2Json symbolMember(const Graph& graph, const Argument& item)
{
    if (const auto* ref = item.asRef())
        return {{"as_name", graph.value(*ref).name}};
    return *constant(item);
}

Result<Pt2Json> nestedList(const Graph& graph, const Argument::List& list)
{
    Pt2Json lists = Pt2Json::array();
    bool tensors = false;
    for (const Argument& item : list) {
        Pt2Json inner = Pt2Json::array();
        const auto* members = item.asList();
        if (!members)
            return fail(ErrorCode::Unsupported, "lists and single values are mixed in one list");
        for (const Argument& member : *members) {
            if (const auto* ref = member.asRef()) {
                inner.push_back({{"name", graph.value(*ref).name}});
                tensors = true;
            } else if (const auto* number = member.asInt()) {
                inner.push_back(*number);
            } else {
                return fail(ErrorCode::Unsupported,
                            "a list of lists holds more than tensors or integers");
            }
        }
        lists.push_back(std::move(inner));
    }
    return Pt2Json {{tensors ? "as_nested_tensors" : "as_int_lists", std::move(lists)}};
}

Pt2Json emptyList(const c10::TypePtr& type)
{
    switch (elementKind(type)) {
    case c10::TypeKind::TensorType:
        return {{"as_tensors", Pt2Json::array()}};
    case c10::TypeKind::FloatType:
        return {{"as_floats", Pt2Json::array()}};
    case c10::TypeKind::BoolType:
        return {{"as_bools", Pt2Json::array()}};
    case c10::TypeKind::StringType:
        return {{"as_strings", Pt2Json::array()}};
    default:
        return {{"as_ints", Pt2Json::array()}};
    }
}

Pt2Json tensorList(const Graph& graph, const Argument::List& list, bool optional)
{
    Pt2Json items = Pt2Json::array();
    for (const Argument& item : list) {
        if (!item.asRef()) {
            items.push_back({{"as_none", true}});
            continue;
        }
        const Pt2Json name = {{"name", graph.value(*item.asRef()).name}};
        items.push_back(optional ? Pt2Json {{"as_tensor", name}} : name);
    }
    return {{optional ? "as_optional_tensors" : "as_tensors", std::move(items)}};
}

Result<Pt2Json> listArgument(const Graph& graph, const Argument::List& list,
                             const c10::TypePtr& type)
{
    if (list.empty())
        return emptyList(type);
    const Members members = membersOf(graph, list);
    if (members.lists)
        return nestedList(graph, list);
    if (members.tensors || (members.none && !members.symbols))
        return tensorList(graph, list, members.none);
    Pt2Json items = Pt2Json::array();
    if (members.symbols) {
        for (const Argument& item : list)
            items.push_back(symbolMember(graph, item));
        const char* tag = members.symbol == ValueKind::SymFloat ? "as_sym_floats"
            : members.symbol == ValueKind::SymBool              ? "as_sym_bools"
                                                                : "as_sym_ints";
        return Pt2Json {{tag, std::move(items)}};
    }
    for (const Argument& item : list) {
        QS_TRY(const Pt2Json made, constant(item));
        items.push_back(made.begin().value());
    }
    const char* tag = members.strings ? "as_strings"
        : members.bools               ? "as_bools"
        : members.reals               ? "as_floats"
                                      : "as_ints";
    return Pt2Json {{tag, std::move(items)}};
}

std::optional<std::size_t> subgraphIndex(const Argument& argument)
{
    const auto* text = argument.asString();
    if (!text || !std::string_view(*text).starts_with(kSubgraphPrefix))
        return std::nullopt;
    std::size_t index = 0;
    const char* first = text->data() + kSubgraphPrefix.size();
    std::from_chars(first, text->data() + text->size(), index);
    return index;
}

const c10::Argument* schemaArgument(const c10::FunctionSchema* schema, const std::string& name)
{
    if (schema)
        for (const c10::Argument& argument : schema->arguments())
            if (argument.name() == name)
                return &argument;
    return nullptr;
}

Pt2Json outputOf(const Value& value)
{
    switch (value.type.kind) {
    case ValueKind::SymInt:
        return {{"as_sym_int", {{"as_name", value.name}}}};
    case ValueKind::SymFloat:
        return {{"as_sym_float", {{"as_name", value.name}}}};
    case ValueKind::SymBool:
        return {{"as_sym_bool", {{"as_name", value.name}}}};
    case ValueKind::Custom:
        return {{"as_custom_obj", {{"name", value.name}, {"class_fqn", value.type.className}}}};
    case ValueKind::None:
        return {{"as_none", true}};
    default:
        return {{"as_tensor", {{"name", value.name}}}};
    }
}

bool returnsList(const Node& node)
{
    const auto op = findOperator(node.target);
    return op && op->schema().returns().size() == 1
        && op->schema().returns()[0].type()->kind() == c10::TypeKind::ListType;
}

} // namespace

Result<int> pt2ScalarType(DType dtype)
{
    for (const auto& [theirs, ours] : kPt2ScalarTypes)
        if (ours == dtype)
            return theirs;
    return fail(ErrorCode::Unsupported,
                "the .pt2 format has no element type " + std::string(dtypeName(dtype)));
}

Pt2Json pt2Device(const Device& device)
{
    return {{"type", device.type}, {"index", device.index < 0 ? Pt2Json() : Pt2Json(device.index)}};
}

Pt2Json pt2Reference(const Graph& graph, ValueRef ref)
{
    return outputOf(graph.value(ref));
}

Result<Pt2Json> pt2Argument(const Graph& graph, const Argument& argument, const c10::TypePtr& type)
{
    if (const auto* ref = argument.asRef())
        return pt2Reference(graph, *ref);
    if (const auto* list = argument.asList())
        return listArgument(graph, *list, type);
    return constant(argument);
}

Result<Pt2Json> pt2Arguments(const Graph& graph, const Node& node, const WriteSubgraph& subgraph)
{
    const auto op = findOperator(node.target);
    const c10::FunctionSchema* schema = op ? &op->schema() : nullptr;
    const bool higherOrder = !node.subgraphs.empty() || node.target.starts_with("higher_order.");
    Pt2Json inputs = Pt2Json::array();
    std::size_t position = 0;
    bool gap = false;
    for (const NamedArgument& arg : node.args) {
        const c10::Argument* wanted = schemaArgument(schema, arg.name);
        Pt2Json made;
        if (const auto index = subgraphIndex(arg.value)) {
            QS_TRY(made, subgraph(*index));
        } else if (higherOrder && arg.value.asString()
                   && arg.value.asString()->starts_with("torch.ops.")) {
            made = {{"as_operator", *arg.value.asString()}};
        } else {
            QS_TRY(made, pt2Argument(graph, arg.value, wanted ? wanted->type() : nullptr));
        }
        gap = gap || (wanted && schema->arguments()[position].name() != arg.name);
        bool keyword = gap || (wanted && wanted->kwarg_only());
        if (higherOrder) // no schema: named arguments are keyword arguments
            keyword = !arg.name.empty();
        inputs.push_back({{"name", arg.name},
                          {"arg", std::move(made)},
                          {"kind", keyword ? kKeyword : kPositional}});
        ++position;
    }
    return inputs;
}

bool returnsMembers(const Node& node)
{
    return node.outputs.size() > 1 || returnsList(node);
}

Result<Pt2Json> pt2Outputs(const Node& node)
{
    Pt2Json outputs = Pt2Json::array();
    const auto op = findOperator(node.target);
    if (returnsList(node)) {
        Pt2Json names = Pt2Json::array();
        const bool tensors
            = std::all_of(node.outputs.begin(), node.outputs.end(),
                          [](const Value& v) { return v.type.kind == ValueKind::Tensor; });
        for (const Value& value : node.outputs)
            names.push_back(tensors ? Pt2Json {{"name", value.name}}
                                    : Pt2Json {{"as_name", value.name}});
        outputs.push_back({{tensors ? "as_tensors" : "as_sym_ints", std::move(names)}});
        return outputs;
    }
    if (op && std::any_of(node.outputs.begin(), node.outputs.end(), [](const Value& value) {
            return value.type.kind == ValueKind::Tuple;
        }))
        return fail(
            makeError(ErrorCode::Unsupported,
                      "a .pt2 has no such value as the list that '" + node.target + "' makes")
                .withHint("export torchscript, or save the model with torch.export"));
    if (op && op->schema().returns().size() != node.outputs.size())
        return fail(ErrorCode::Unsupported,
                    "it has " + counted(node.outputs.size(), "output") + " where '" + node.target
                        + "' returns " + std::to_string(op->schema().returns().size()));
    for (const Value& value : node.outputs)
        outputs.push_back(outputOf(value));
    return outputs;
}

std::string pt2Target(const std::string& target)
{
    for (const std::string_view python : {"_operator.", "math.", "torch.", "builtins."})
        if (target.starts_with(python))
            return target;
    return "torch.ops." + target;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2/pt2_schema.h"

#include "engine/import/pt2/pt2_codes.h"
#include "engine/import/pt2/symbol_text.h"

#include <limits>

namespace qs {

namespace {

/// Reads a number; infinities and NaN are words, since JSON has no numbers for them.
double schemaDouble(JsonView number)
{
    if (!number.isString())
        return number.number();
    const std::string_view word = number.text();
    const double inf = std::numeric_limits<double>::infinity();
    return word == "Infinity" ? inf
        : word == "-Infinity" ? -inf
                              : std::numeric_limits<double>::quiet_NaN();
}

class ArgumentReader
{
public:
    ArgumentReader(ArgumentScope& scope, std::string& problem)
        : m_scope(scope)
        , m_problem(problem)
    {
    }

    Argument read(JsonView argument)
    {
        const auto [tag, held] = unionOf(argument);
        if (tag == "as_none")
            return {};
        if (tag == "as_tensor" || tag == "as_custom_obj")
            return m_scope.value(held.at("name").text());
        if (tag == "as_graph")
            return m_scope.subgraph(held);
        if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool"
            || tag == "as_optional_tensor")
            return element(held);
        if (held.isArray())
            return list(tag, held);
        return constant(tag, held);
    }

private:
    /// Reads a union inside a list: a name, a number, a tensor or None.
    Argument element(JsonView value)
    {
        const auto [tag, held] = unionOf(value);
        if (tag == "as_name")
            return m_scope.value(held.text());
        if (tag == "as_tensor")
            return m_scope.value(held.at("name").text());
        return constant(tag, held);
    }
    Argument constant(std::string_view tag, JsonView held)
    {
        if (tag == "as_none")
            return {};
        if (tag == "as_int")
            return held.integer();
        if (tag == "as_bool")
            return held.boolean();
        if (tag == "as_float")
            return schemaDouble(held);
        if (tag == "as_string" || tag == "as_operator")
            return std::string(held.text());
        if (tag == "as_scalar_type")
            return schemaDType(held.smallInteger());
        if (tag == "as_layout")
            return LayoutTag {pt2Word(kPt2Layouts, held.smallInteger())};
        if (tag == "as_memory_format")
            return MemoryFormatTag {pt2Word(kPt2MemoryFormats, held.smallInteger())};
        if (tag == "as_device")
            return schemaDevice(held);
        if (tag == "as_complex")
            return ComplexNumber {schemaDouble(held.at("real")), schemaDouble(held.at("imag"))};
        m_problem = "an argument of kind '" + std::string(tag) + "' is not known";
        return {};
    }
    Argument list(std::string_view tag, JsonView items)
    {
        Argument::List out;
        for (const JsonView item : items.items()) {
            if (tag == "as_ints")
                out.emplace_back(item.integer());
            else if (tag == "as_floats")
                out.emplace_back(schemaDouble(item));
            else if (tag == "as_bools")
                out.emplace_back(item.boolean());
            else if (tag == "as_strings")
                out.emplace_back(std::string(item.text()));
            else if (tag == "as_tensors")
                out.push_back(m_scope.value(item.at("name").text()));
            else if (tag == "as_int_lists")
                out.push_back(list("as_ints", item));
            else if (tag == "as_nested_tensors")
                out.push_back(list("as_tensors", item));
            else
                out.push_back(element(item));
        }
        return out;
    }

    ArgumentScope& m_scope;
    std::string& m_problem;
};

} // namespace

std::string schemaProblem(std::string_view what)
{
    return "does not follow torch.export's schema (" + std::string(what) + ")";
}

std::string targetName(std::string_view spelled)
{
    constexpr std::string_view kOps = "torch.ops.";
    return std::string(spelled.starts_with(kOps) ? spelled.substr(kOps.size()) : spelled);
}

DType schemaDType(int number)
{
    for (const auto& [theirs, ours] : kPt2ScalarTypes)
        if (theirs == number)
            return ours;
    return DType::Unknown;
}

std::pair<std::string_view, JsonView> unionOf(JsonView value)
{
    if (value.isObject())
        for (const auto& [tag, held] : value.members())
            return {tag, held};
    return {std::string_view(), value};
}

Dim schemaDim(JsonView symInt)
{
    if (const auto size = symInt.find("as_int"))
        return Dim::fixed(size->integer());
    const JsonView expr = symInt.at("as_expr");
    Dim dim;
    dim.expression = expr.at("expr_str").text();
    dim.symbol = symbolText(dim.expression);
    const auto hint = expr.find("hint");
    if (const auto size = hint ? hint->find("as_int") : std::nullopt)
        dim.size = size->integer();
    return dim;
}

Device schemaDevice(JsonView device)
{
    Device out;
    out.type = device.at("type").text();
    if (const auto index = device.find("index"); index && index->isNumber())
        out.index = index->smallInteger();
    return out;
}

ValueType schemaTensorType(JsonView meta)
{
    ValueType type;
    type.dtype = schemaDType(meta.at("dtype").smallInteger());
    type.shapeKnown = true;
    for (const JsonView size : meta.at("sizes").items())
        type.shape.push_back(schemaDim(size));
    type.device = schemaDevice(meta.at("device"));
    return type;
}

Argument schemaArgument(JsonView argument, ArgumentScope& scope, std::string& problem)
{
    return ArgumentReader(scope, problem).read(argument);
}

std::vector<DeclaredValue> schemaOutputs(JsonView argument)
{
    const auto [tag, held] = unionOf(argument);
    if (tag == "as_tensor")
        return {{held.at("name").text(), ValueKind::Tensor, {}}};
    if (tag == "as_custom_obj")
        return {{held.at("name").text(), ValueKind::Custom, held.text("class_fqn", "")}};
    const auto symbolic = [](JsonView value, ValueKind kind) -> DeclaredValue {
        return {value.text("as_name", ""), kind, {}};
    };
    if (tag == "as_sym_int")
        return {symbolic(held, ValueKind::SymInt)};
    if (tag == "as_sym_float")
        return {symbolic(held, ValueKind::SymFloat)};
    if (tag == "as_sym_bool")
        return {symbolic(held, ValueKind::SymBool)};
    std::vector<DeclaredValue> out;
    if (tag == "as_tensors")
        for (const JsonView item : held.items())
            out.push_back({item.at("name").text(), ValueKind::Tensor, {}});
    else if (tag == "as_sym_ints")
        for (const JsonView item : held.items())
            out.push_back(symbolic(item, ValueKind::SymInt));
    else if (tag == "as_optional_tensors")
        for (const JsonView item : held.items())
            if (const auto tensor = item.find("as_tensor"))
                out.push_back({tensor->at("name").text(), ValueKind::Tensor, {}});
            else
                out.push_back({"", ValueKind::None, {}});
    else
        out.push_back({"", ValueKind::None, {}});
    return out;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/import/pt2_schema.h"

#include "engine/import/symbol_text.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

namespace qs {

using nlohmann::json;

namespace {

constexpr int kMaxDepth = 64;

constexpr std::array<std::pair<int, DType>, 15> kScalarTypes {{
    {1, DType::UInt8},
    {2, DType::Int8},
    {3, DType::Int16},
    {4, DType::Int32},
    {5, DType::Int64},
    {6, DType::Float16},
    {7, DType::Float32},
    {8, DType::Float64},
    {10, DType::Complex64},
    {11, DType::Complex128},
    {12, DType::Bool},
    {13, DType::BFloat16},
    {28, DType::UInt16},
    {29, DType::Float8E4M3FN},
    {30, DType::Float8E5M2},
}};

constexpr std::array<std::string_view, 8> kLayouts {
    "", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "strided"};
constexpr std::array<std::string_view, 5> kMemoryFormats {"", "contiguous_format", "channels_last",
                                                          "channels_last_3d", "preserve_format"};

/// Infinities and NaN are written as words, since JSON has no numbers for them.
double schemaDouble(const json& number)
{
    if (!number.is_string())
        return number.get<double>();
    const std::string& word = number.get_ref<const std::string&>();
    const double inf = std::numeric_limits<double>::infinity();
    return word == "Infinity" ? inf
        : word == "-Infinity" ? -inf
                              : std::numeric_limits<double>::quiet_NaN();
}

template<std::size_t N>
std::string wordAt(const std::array<std::string_view, N>& words, int number)
{
    return number >= 0 && std::size_t(number) < N ? std::string(words[std::size_t(number)])
                                                  : std::string();
}

class ArgumentReader
{
public:
    ArgumentReader(const ArgumentScope& scope, std::string& problem)
        : m_scope(scope)
        , m_problem(problem)
    {
    }

    Argument read(const json& argument, int depth = 0)
    {
        const auto [tag, held] = unionOf(argument);
        if (depth > kMaxDepth) {
            m_problem = "arguments are nested too deeply";
            return {};
        }
        if (tag == "as_none")
            return {};
        if (tag == "as_tensor" || tag == "as_custom_obj")
            return m_scope.value(held->at("name"));
        if (tag == "as_graph")
            return m_scope.subgraph(*held);
        if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool"
            || tag == "as_optional_tensor")
            return element(*held);
        if (held->is_array())
            return list(tag, *held, depth);
        return constant(tag, *held);
    }

private:
    /// One of the small unions inside lists: a name, a number, a tensor or nothing.
    Argument element(const json& value)
    {
        const auto [tag, held] = unionOf(value);
        if (tag == "as_name")
            return m_scope.value(held->get<std::string>());
        if (tag == "as_tensor")
            return m_scope.value(held->at("name"));
        return constant(tag, *held);
    }
    Argument constant(const std::string& tag, const json& held)
    {
        if (tag == "as_none")
            return {};
        if (tag == "as_int")
            return held.get<std::int64_t>();
        if (tag == "as_bool")
            return held.get<bool>();
        if (tag == "as_float")
            return schemaDouble(held);
        if (tag == "as_string" || tag == "as_operator")
            return held.get<std::string>();
        if (tag == "as_scalar_type")
            return schemaDType(held.get<int>());
        if (tag == "as_layout")
            return LayoutTag {wordAt(kLayouts, held.get<int>())};
        if (tag == "as_memory_format")
            return MemoryFormatTag {wordAt(kMemoryFormats, held.get<int>())};
        if (tag == "as_device")
            return schemaDevice(held);
        if (tag == "as_complex")
            return ComplexNumber {schemaDouble(held.at("real")), schemaDouble(held.at("imag"))};
        m_problem = "an argument of kind '" + tag + "' is not known";
        return {};
    }
    Argument list(const std::string& tag, const json& items, int depth)
    {
        Argument::List out;
        out.reserve(items.size());
        for (const auto& item : items) {
            if (tag == "as_ints")
                out.emplace_back(item.get<std::int64_t>());
            else if (tag == "as_floats")
                out.emplace_back(schemaDouble(item));
            else if (tag == "as_bools")
                out.emplace_back(item.get<bool>());
            else if (tag == "as_strings")
                out.emplace_back(item.get<std::string>());
            else if (tag == "as_tensors")
                out.push_back(m_scope.value(item.at("name")));
            else if (tag == "as_int_lists")
                out.push_back(list("as_ints", item, depth + 1));
            else if (tag == "as_nested_tensors")
                out.push_back(list("as_tensors", item, depth + 1));
            else
                out.push_back(element(item));
        }
        return out;
    }

    const ArgumentScope& m_scope;
    std::string& m_problem;
};

} // namespace

Result<json> parseJson(const std::string& text)
{
    constexpr int kDeepest = 400;
    int depth = 0;
    bool inString = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"')
            inString = !inString;
        else if (inString && c == '\\')
            ++i;
        else if (!inString && (c == '{' || c == '['))
            ++depth;
        else if (!inString && (c == '}' || c == ']'))
            --depth;
        if (depth > kDeepest)
            return fail(ErrorCode::BadInput, "a JSON record is nested too deeply");
    }
    json document = json::parse(text, nullptr, false);
    if (document.is_discarded())
        return fail(ErrorCode::BadInput, "a JSON record is not valid JSON");
    return document;
}

std::string targetName(std::string_view spelled)
{
    constexpr std::string_view kOps = "torch.ops.";
    return std::string(spelled.starts_with(kOps) ? spelled.substr(kOps.size()) : spelled);
}

DType schemaDType(int number)
{
    for (const auto& [theirs, ours] : kScalarTypes)
        if (theirs == number)
            return ours;
    return DType::Unknown;
}

std::pair<std::string, const json*> unionOf(const json& value)
{
    for (auto it = value.begin(); it != value.end(); ++it)
        return {value.is_object() ? it.key() : std::string(), &*it};
    return {std::string(), &value};
}

Dim schemaDim(const json& symInt)
{
    if (const auto it = symInt.find("as_int"); it != symInt.end())
        return Dim::fixed(it->get<std::int64_t>());
    const json& expr = symInt.at("as_expr");
    Dim dim;
    dim.expression = expr.at("expr_str").get<std::string>();
    dim.symbol = symbolText(dim.expression);
    if (const auto hint = expr.find("hint"); hint != expr.end() && hint->is_object())
        dim.size = hint->value("as_int", std::int64_t(-1));
    return dim;
}

Device schemaDevice(const json& device)
{
    Device out;
    out.type = device.at("type").get<std::string>();
    if (const auto it = device.find("index"); it != device.end() && it->is_number())
        out.index = it->get<int>();
    return out;
}

ValueType schemaTensorType(const json& meta)
{
    ValueType type;
    type.dtype = schemaDType(meta.at("dtype").get<int>());
    type.shapeKnown = true;
    for (const auto& size : meta.at("sizes"))
        type.shape.push_back(schemaDim(size));
    type.device = schemaDevice(meta.at("device"));
    return type;
}

Argument schemaArgument(const json& argument, const ArgumentScope& scope, std::string& problem)
{
    return ArgumentReader(scope, problem).read(argument);
}

std::vector<DeclaredValue> schemaOutputs(const json& argument)
{
    const auto [tag, held] = unionOf(argument);
    if (tag == "as_tensor")
        return {{held->at("name"), ValueKind::Tensor, {}}};
    if (tag == "as_custom_obj")
        return {{held->at("name"), ValueKind::Custom, held->value("class_fqn", "")}};
    const auto symbolic = [](const json& value, ValueKind kind) -> DeclaredValue {
        return {value.value("as_name", ""), kind, {}};
    };
    if (tag == "as_sym_int")
        return {symbolic(*held, ValueKind::SymInt)};
    if (tag == "as_sym_float")
        return {symbolic(*held, ValueKind::SymFloat)};
    if (tag == "as_sym_bool")
        return {symbolic(*held, ValueKind::SymBool)};
    std::vector<DeclaredValue> out;
    if (tag == "as_tensors")
        for (const auto& item : *held)
            out.push_back({item.at("name"), ValueKind::Tensor, {}});
    else if (tag == "as_sym_ints")
        for (const auto& item : *held)
            out.push_back(symbolic(item, ValueKind::SymInt));
    else if (tag == "as_optional_tensors")
        for (const auto& item : *held)
            if (const auto it = item.find("as_tensor"); it != item.end())
                out.push_back({it->at("name"), ValueKind::Tensor, {}});
            else
                out.push_back({"", ValueKind::None, {}});
    else
        out.push_back({"", ValueKind::None, {}});
    return out;
}

} // namespace qs

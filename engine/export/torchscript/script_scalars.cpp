// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_ops.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

struct ScalarRow
{
    std::string_view name; ///< without its module
    const char* script; ///< resolved by the types of its arguments
};

constexpr std::array<ScalarRow, 34> kRows {{
    {"add", "aten::add"},
    {"sub", "aten::sub"},
    {"mul", "aten::mul"},
    {"floordiv", "aten::floordiv"},
    {"truediv", "aten::div"},
    {"int_truediv", "aten::div"},
    {"mod", "aten::remainder"},
    {"pow", "aten::pow"},
    {"pow_by_natural", "aten::pow"},
    {"neg", "aten::neg"},
    {"pos", nullptr},
    {"eq", "aten::eq"},
    {"ne", "aten::ne"},
    {"lt", "aten::lt"},
    {"le", "aten::le"},
    {"gt", "aten::gt"},
    {"ge", "aten::ge"},
    {"and_", "aten::__and__"},
    {"or_", "aten::__or__"},
    {"xor", "aten::__xor__"},
    {"not_", "aten::__not__"},
    {"sym_not", "aten::__not__"},
    {"abs", "prim::abs"},
    {"ceil", "aten::ceil"},
    {"floor", "aten::floor"},
    {"trunc", "aten::Int"},
    {"round", "aten::round"},
    {"sqrt", "aten::sqrt"},
    {"_sym_sqrt", "aten::sqrt"},
    {"sym_max", "prim::max"},
    {"sym_min", "prim::min"},
    {"sym_float", "aten::Float"},
    {"sym_int", "aten::Int"},
    {"truth", "aten::Bool"},
}};

constexpr std::array<std::string_view, 4> kModules {"_operator.", "operator.", "math.", "torch."};

std::string_view bareName(std::string_view target)
{
    for (const auto module : kModules)
        if (target.starts_with(module)) {
            const auto rest = target.substr(module.size());
            return rest.find('.') == std::string_view::npos ? rest : std::string_view();
        }
    return {};
}

const ScalarRow* findRow(std::string_view target)
{
    const auto name = bareName(target);
    const auto it = std::find_if(kRows.begin(), kRows.end(),
                                 [&](const ScalarRow& row) { return row.name == name; });
    return it == kRows.end() ? nullptr : &*it;
}

/// Arguments as they are; a single list (of a sum) is taken apart.
Result<std::vector<ScriptValue*>> arguments(ScriptBuilder& builder, const Node& node)
{
    std::vector<ScriptValue*> values;
    for (const NamedArgument& arg : node.args) {
        const Argument::List one {arg.value};
        const auto* list = arg.value.asList();
        for (const Argument& item : list ? *list : one) {
            QS_TRY(ScriptValue * made, builder.argument(item, c10::NumberType::get()));
            values.push_back(made);
        }
    }
    if (values.empty())
        return fail(ErrorCode::BadInput, "it has no argument");
    return values;
}

} // namespace

bool isScalarNode(const Node& node)
{
    return findRow(node.target) || bareName(node.target) == "sym_sum";
}

Result<ScriptValue*> emitScalar(ScriptBuilder& builder, const Node& node)
{
    QS_TRY(const auto values, arguments(builder, node));
    const ScalarRow* row = findRow(node.target);
    if (!row) {
        ScriptValue* sum = values.front();
        for (std::size_t i = 1; i < values.size(); ++i)
            sum = builder.call("aten::add", {sum, values[i]});
        return sum;
    }
    return row->script ? builder.call(row->script, values) : values.front();
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/number_operators.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

constexpr std::string_view kModules[]
    = {"_operator.", "operator.", "torch.", "math.", "builtins.", "torch.utils._sympy.functions."};

struct NumberRow
{
    std::string_view word = {}; ///< name of Python's function
    std::string_view script = {}; ///< TorchScript's operator for any argument types
    std::string_view module = {}; ///< module of the Python function that replaces the overloads
    std::string_view overloads = {}; ///< equivalent TorchScript overloads, separated by blanks
    std::string_view tensors = {}; ///< equivalent operator on one-element tensors
};

constexpr std::string_view kBoth = "int float int_float float_int";

constexpr NumberRow kNumberRows[] = {
    {"add", "aten::add", "_operator.", kBoth, "aten::add"},
    {"sub", "aten::sub", "_operator.", kBoth, "aten::sub"},
    {"mul", "aten::mul", "_operator.", kBoth, "aten::mul"},
    {"floordiv", "aten::floordiv", "_operator.", "int", "aten::floor_divide"},
    {"truediv", "aten::div", "_operator.", "int float"},
    {"int_truediv", "aten::div"},
    {"mod", "aten::remainder", "_operator.", "int", "aten::remainder"},
    {"pow", "aten::pow"},
    {"pow_by_natural", "aten::pow"},
    {"neg", "aten::neg", "_operator.", "int float"},
    {"eq", "aten::eq", "_operator.", kBoth},
    {"ne", "aten::ne", "_operator.", kBoth},
    {"lt", "aten::lt", "_operator.", kBoth},
    {"le", "aten::le", "_operator.", kBoth},
    {"gt", "aten::gt", "_operator.", kBoth},
    {"ge", "aten::ge", "_operator.", kBoth},
    {"and_", "aten::__and__"},
    {"or_", "aten::__or__"},
    {"xor", "aten::__xor__"},
    {"not_", "aten::__not__", "_operator.", "default"},
    {"sym_not", "aten::__not__"},
    {"abs", "prim::abs", "builtins.", "int"},
    {"ceil", "aten::ceil", "math.", "float"},
    {"floor", "aten::floor", "math.", "float"},
    {"trunc", "aten::Int"},
    {"round", "aten::round"},
    {"sqrt", "aten::sqrt"},
    {"_sym_sqrt", "aten::sqrt"},
    {"sym_max", "prim::max", "torch.", "int"},
    {"sym_min", "prim::min", "torch.", "int"},
    {"sym_float", "aten::Float", "torch.", "int bool"},
    {"sym_int", "aten::Int", "torch.", "float bool"},
    {"truth", "aten::Bool"},
};

/// Maps TorchScript's targets to Python's functions.
std::map<std::string, std::string, std::less<>> readBack()
{
    std::map<std::string, std::string, std::less<>> names;
    for (const NumberRow& row : kNumberRows) {
        std::string script(row.script);
        script.replace(script.find("::"), 2, ".");
        for (std::string_view rest = row.overloads; !rest.empty();) {
            const std::string_view overload = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(rest.size(), overload.size() + 1));
            names[script + "." + std::string(overload)]
                = std::string(row.module) + std::string(row.word);
        }
    }
    return names;
}

} // namespace

std::string_view numberWord(std::string_view target)
{
    for (const std::string_view module : kModules)
        if (target.starts_with(module)) {
            const std::string_view rest = target.substr(module.size());
            if (rest.find('.') == std::string_view::npos)
                return rest;
        }
    return {};
}

std::string_view scriptNumberOperator(std::string_view target)
{
    const std::string_view word = numberWord(target);
    const auto* row = std::find_if(std::begin(kNumberRows), std::end(kNumberRows),
                                   [&](const NumberRow& one) { return one.word == word; });
    return row == std::end(kNumberRows) ? std::string_view() : row->script;
}

std::string numberTargetOfTensors(std::string_view name)
{
    const auto* row
        = std::find_if(std::begin(kNumberRows), std::end(kNumberRows),
                       [&](const NumberRow& one) { return !name.empty() && one.tensors == name; });
    return row == std::end(kNumberRows) ? std::string()
                                        : std::string(row->module).append(row->word);
}

std::string numberTarget(std::string_view scriptTarget)
{
    static const auto names = readBack();
    const auto found = names.find(scriptTarget);
    return found == names.end() ? std::string() : found->second;
}

} // namespace qs

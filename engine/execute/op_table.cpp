// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/op_table.h"

#include <algorithm>
#include <array>

namespace qs {

c10::OperatorName operatorName(std::string_view target)
{
    const auto first = target.find('.');
    const auto last = target.rfind('.');
    if (first == std::string_view::npos || first == last)
        return {"", ""};
    std::string name(target.substr(0, first));
    name += "::";
    name += target.substr(first + 1, last - first - 1);
    std::string overload(target.substr(last + 1));
    if (overload == "default")
        overload.clear();
    return {std::move(name), std::move(overload)};
}

std::optional<c10::OperatorHandle> findOperator(std::string_view target)
{
    const c10::OperatorName name = operatorName(target);
    if (name.name.empty())
        return std::nullopt;
    return c10::Dispatcher::singleton().findSchema(name);
}

bool mutatesArguments(const c10::FunctionSchema& schema)
{
    for (const auto& argument : schema.arguments())
        if (argument.alias_info() && argument.alias_info()->isWrite())
            return true;
    return false;
}

bool isForbiddenOperator(std::string_view target)
{
    static constexpr std::array<std::string_view, 14> kForbidden {
        "aten.save.", "aten.from_file.", "aten._print.",   "prim.PythonOp.", "prim.Print.",
        "prim.rpc",   "prim.fork.",      "c10d.",          "_c10d",          "profiler.",
        "inductor.",  "symm_mem.",       "dist_autograd.", "static_runtime."};
    return std::any_of(kForbidden.begin(), kForbidden.end(),
                       [&](std::string_view name) { return target.starts_with(name); });
}

bool isRandom(const c10::OperatorHandle& op)
{
    return op.hasTag(at::Tag::nondeterministic_seeded);
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/op_table.h"

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

bool isRandom(const c10::OperatorHandle& op)
{
    return op.hasTag(at::Tag::nondeterministic_seeded);
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string_view>

namespace qs {

/// Returns the argument of this name; null if it is absent or None.
inline const Argument* given(const Node& node, std::string_view name)
{
    const Argument* arg = node.tryArg(name);
    return arg && !arg->isNone() ? arg : nullptr;
}

inline bool isTrue(const Argument* flag)
{
    return flag && flag->asBool() && *flag->asBool();
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <utility>

namespace qs {

/// Returns the argument with every reference (in nested lists too, in order) replaced by
/// `replace(ValueRef)`, which returns a reference or any other argument.
template<class Replace>
Argument mapRefs(const Argument& argument, Replace&& replace)
{
    if (const auto* ref = argument.asRef())
        return Argument(replace(*ref));
    const auto* items = argument.asList();
    if (!items)
        return argument;
    Argument::List out;
    out.reserve(items->size());
    for (const Argument& item : *items)
        out.push_back(mapRefs(item, replace));
    return out;
}

/// The same for all arguments of a node.
template<class Replace>
std::vector<NamedArgument> mapRefs(const std::vector<NamedArgument>& args, Replace&& replace)
{
    std::vector<NamedArgument> out;
    out.reserve(args.size());
    for (const NamedArgument& arg : args)
        out.push_back({arg.name, mapRefs(arg.value, replace)});
    return out;
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/output_names.h"

namespace qs {

namespace {

void addNames(const Graph& graph, const Argument& argument, std::vector<std::string>& names)
{
    if (const auto* list = argument.asList()) {
        for (const Argument& item : *list)
            addNames(graph, item, names);
        return;
    }
    const ValueRef* ref = argument.asRef();
    names.push_back(ref ? graph.value(*ref).name : std::string("constant"));
}

} // namespace

std::vector<std::string> outputNames(const Graph& graph)
{
    std::vector<std::string> names;
    for (const auto& argument : graph.output().args)
        addNames(graph, argument.value, names);
    return names;
}

} // namespace qs

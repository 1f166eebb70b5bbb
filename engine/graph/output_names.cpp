// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/output_names.h"

#include <utility>

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

std::vector<std::string> madeUnique(std::vector<std::string> names, std::set<std::string> taken)
{
    const std::set<std::string> all(names.begin(), names.end());
    for (std::string& name : names) {
        std::string one = name;
        for (int number = 1; taken.contains(one) || (one != name && all.contains(one)); ++number)
            one = name + "_" + std::to_string(number);
        taken.insert(one);
        name = std::move(one);
    }
    return names;
}

std::vector<std::string> outputNames(const Graph& graph)
{
    std::vector<std::string> names;
    for (const auto& argument : graph.output().args)
        addNames(graph, argument.value, names);
    return madeUnique(std::move(names), {});
}

} // namespace qs

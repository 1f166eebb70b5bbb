// SPDX-License-Identifier: Apache-2.0
#include "engine/import/view_updates.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 2> kScatters {{
    {"aten.slice.Tensor", "aten.slice_scatter.default"},
    {"aten.select.int", "aten.select_scatter.default"},
}};

const char* scatterOf(std::string_view view)
{
    for (const auto& [target, scatter] : kScatters)
        if (target == view)
            return scatter;
    return nullptr;
}

} // namespace

const ValueRef* slicedFrom(const Graph& graph, ValueRef part)
{
    const Node& maker = graph.get(part.node);
    return scatterOf(maker.target) && !maker.args.empty() ? maker.args[0].value.asRef() : nullptr;
}

Node scattered(const Node& view, ValueRef whole, const ValueType& type, ValueRef source)
{
    Node made;
    made.target = scatterOf(view.target);
    made.name = made.target.substr(5, made.target.rfind('.') - 5);
    made.args = {{"self", whole}, {"src", source}};
    made.args.insert(made.args.end(), view.args.begin() + 1, view.args.end());
    made.outputs = {{"", type}};
    return made;
}

} // namespace qs

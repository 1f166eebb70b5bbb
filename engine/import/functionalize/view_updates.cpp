// SPDX-License-Identifier: Apache-2.0
#include "engine/import/functionalize/view_updates.h"

#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/functionalize/erase_unread.h"

#include <algorithm>
#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<std::string_view, const char*>, 2> kScatters {{
    {"aten.slice.Tensor", "aten.slice_scatter.default"},
    {kSelectTarget, "aten.select_scatter.default"},
}};

const char* scatterOf(std::string_view view)
{
    for (const auto& [target, scatter] : kScatters)
        if (target == view)
            return scatter;
    return nullptr;
}

bool isScatter(const Node& node)
{
    return std::any_of(kScatters.begin(), kScatters.end(),
                       [&](const auto& row) { return node.target == row.second; });
}

/// Returns the value written to the part that `view` reads; null for other nodes.
const ValueRef* readBack(const GraphEdit& edit, const Node& view)
{
    const char* scatter = scatterOf(view.target);
    const ValueRef* whole = scatter ? view.args.at(0).value.asRef() : nullptr;
    if (!whole || edit.get(whole->node).target != scatter)
        return nullptr;
    const auto& put = edit.get(whole->node).args;
    const ValueRef* source = put.at(1).value.asRef();
    if (!std::equal(view.args.begin() + 1, view.args.end(), put.begin() + 2, put.end()) || !source)
        return nullptr;
    // A scatter converts the value to the tensor's type, so the types must be known and equal.
    const DType given = edit.get(source->node).outputs.at(source->index).type.dtype;
    const bool same = given == view.outputs.at(0).type.dtype && given != DType::Unknown;
    return same ? source : nullptr;
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
    made.name = atenWord(made.target);
    made.args = {{"self", whole}, {"src", source}};
    made.args.insert(made.args.end(), view.args.begin() + 1, view.args.end());
    made.outputs = {{"", type}};
    return made;
}

Graph withoutReadBacks(const Graph& graph)
{
    if (std::none_of(graph.nodes().begin(), graph.nodes().end(),
                     [](const NodePtr& node) { return isScatter(*node); }))
        return graph;
    GraphEdit edit(graph);
    for (NodeId id : edit.order())
        if (const ValueRef* source = readBack(edit, edit.get(id)))
            edit.replaceUses({id, 0}, *source);
    eraseUnread(edit);
    return edit.build();
}

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#include "engine/export/pt2/pt2_objects.h"

#include "engine/execute/classes/class_methods.h"
#include "engine/extensions/classes/join_objects.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/class_parts.h"

#include <algorithm>

namespace qs {

namespace {

bool isObject(const Value& value)
{
    return value.type.kind == ValueKind::Custom && isForeignClass(value.type.className);
}

} // namespace

Result<void> checkPt2Objects(const Graph& graph)
{
    QS_TRY(const GraphPtr whole, joinObjects(std::make_shared<const Graph>(graph)));
    for (const NodePtr& node : whole->nodes())
        if (node->kind == NodeKind::Op
            && std::any_of(node->outputs.begin(), node->outputs.end(), isObject))
            return fail(makeError(ErrorCode::Unsupported,
                                  "a .pt2 cannot hold a call that gives an object, as '"
                                      + node->target + "' does")
                            .atNode(node->name)
                            .withHint("export torchscript"));
    return {};
}

Graph withMethodCalls(const Graph& graph)
{
    std::vector<std::pair<const Node*, ClassMethod>> calls;
    for (const NodePtr& node : graph.nodes())
        if (auto method = findClassMethod(node->target); method && !node->args.empty())
            calls.emplace_back(node.get(), std::move(*method));
    if (calls.empty())
        return graph;
    GraphEdit edit(graph);
    for (const auto& [node, method] : calls) {
        std::vector<NamedArgument> args {{"", node->args[0].value}, {"", method.name}};
        for (std::size_t i = 1; i < node->args.size(); ++i)
            args.push_back({"", node->args[i].value});
        edit.change(node->id).target = "higher_order.call_torchbind";
        edit.setArgs(node->id, std::move(args));
    }
    return edit.build();
}

} // namespace qs

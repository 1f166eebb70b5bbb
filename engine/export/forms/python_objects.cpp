// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/python_objects.h"

#include "engine/execute/classes/class_methods.h"
#include "engine/extensions/classes/join_objects.h"
#include "engine/graph/graph_edit.h"

#include <algorithm>

namespace qs {

GraphPtr withPythonObjects(const Graph& graph)
{
    GraphPtr whole = std::make_shared<const Graph>(graph);
    if (auto joined = joinObjects(whole))
        whole = std::move(*joined);
    const auto nodes = whole->nodes();
    const auto isMethod = [](const NodePtr& node) { return bool(findClassMethod(node->target)); };
    if (std::none_of(nodes.begin(), nodes.end(), isMethod))
        return whole;
    GraphEdit edit(*whole);
    for (const NodePtr& node : nodes)
        if (const auto method = findClassMethod(node->target))
            edit.change(node->id).target = methodInPython(*method);
    return std::make_shared<const Graph>(edit.build());
}

} // namespace qs

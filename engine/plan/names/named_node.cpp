// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/named_node.h"

#include "engine/base/text.h"
#include "engine/plan/names/unit_title.h"

namespace qs {

Result<NodeId> namedNode(const Graph& graph, const Plan& plan, const std::string& text)
{
    if (const Node* node = graph.tryFind(text))
        return node->id;
    const NodeTitles titles(graph);
    std::vector<std::string> names;
    NodeId titled {}, within {};
    bool isTitled = false, isWithin = false;
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isOperator())
            continue;
        const std::string unit = unitTitle(titles, plan, plan.tryGet(graph, node->id), *node);
        if (unit == text || titles.of(*node) == text) {
            titled = node->id;
            isTitled = true;
        }
        if ((node->scope.path + ".").starts_with(text + ".")) {
            within = node->id;
            isWithin = true;
        }
        names.insert(names.end(), {node->name, unit, node->scope.path});
    }
    if (isTitled || isWithin)
        return isTitled ? titled : within;
    return fail(makeError(ErrorCode::Usage, "there is no node or module " + inQuotes(text))
                    .withHint(suggestName(text, names)));
}

} // namespace qs

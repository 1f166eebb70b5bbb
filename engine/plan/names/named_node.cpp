// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/named_node.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/plan/names/unit_title.h"

#include <algorithm>

namespace qs {

namespace {

/// Names, titles, modules and the modules around them.
std::vector<std::string> allNames(std::span<const NodeNames> nodes)
{
    std::vector<std::string> all;
    for (const NodeNames& node : nodes) {
        all.push_back(node.name);
        all.insert(all.end(), node.titles.begin(), node.titles.end());
        for (std::size_t dot = node.module.find('.'); dot != std::string::npos;
             dot = node.module.find('.', dot + 1))
            all.push_back(node.module.substr(0, dot));
        all.push_back(node.module);
    }
    return all;
}

} // namespace

Result<std::vector<std::size_t>> nodesNamed(std::span<const NodeNames> nodes,
                                            const std::string& text)
{
    std::vector<std::size_t> within, titled, named;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const NodeNames& node = nodes[i];
        if (node.name == text)
            named.push_back(i);
        else if (std::find(node.titles.begin(), node.titles.end(), text) != node.titles.end())
            titled.push_back(i);
        else if ((node.module + ".").starts_with(text + "."))
            within.push_back(i);
    }
    within.insert(within.end(), titled.begin(), titled.end());
    within.insert(within.end(), named.begin(), named.end());
    if (within.empty())
        return fail(makeError(ErrorCode::Usage, "there is no node or module " + inQuotes(text))
                        .withHint(suggestName(text, allNames(nodes))));
    return within;
}

Result<NodeId> namedNode(const Graph& graph, const Plan& plan, const std::string& text)
{
    if (const Node* node = graph.tryFind(text))
        return node->id;
    const NodeTitles titles(graph);
    std::vector<NodeNames> names;
    std::vector<NodeId> nodes;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator()) {
            const std::string unit = unitTitle(titles, plan, plan.tryGet(graph, node->id), *node);
            names.push_back({node->name, {unit, titles.of(*node)}, node->scope.path});
            nodes.push_back(node->id);
        }
    QS_TRY(const std::vector<std::size_t> found, nodesNamed(names, text));
    return nodes[found.back()];
}

} // namespace qs

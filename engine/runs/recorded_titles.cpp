// SPDX-License-Identifier: Apache-2.0
#include "engine/runs/recorded_titles.h"

#include "engine/graph/operators/operator_name.h"
#include "engine/runs/node_match.h"

#include <map>

namespace qs {

RecordedTitles::RecordedTitles(std::span<const NodeIdentity* const> nodes)
{
    add(nodes);
}

RecordedTitles::RecordedTitles(const Graph& model)
{
    const std::vector<NodeIdentity> identities = identitiesOf(model);
    std::vector<const NodeIdentity*> nodes;
    for (const NodeIdentity& identity : identities)
        nodes.push_back(&identity);
    add(nodes);
}

void RecordedTitles::add(std::span<const NodeIdentity* const> nodes)
{
    const auto isOfModule = [](const NodeIdentity& node) {
        return !node.module.empty() && node.op != "parameter" && node.op != "constant";
    };
    std::map<std::string, int> inModule, ofKind;
    const auto kindOf
        = [](const NodeIdentity& node) { return node.module + " · " + shortOpName(node.op); };
    for (const NodeIdentity* node : nodes)
        if (isOfModule(*node)) {
            ++inModule[node->module];
            ++ofKind[kindOf(*node)];
        }
    for (const NodeIdentity* node : nodes) {
        if (!isOfModule(*node))
            continue;
        const std::string kind = kindOf(*node);
        m_titles[node->name] = inModule[node->module] == 1 ? node->module
            : ofKind[kind] == 1                            ? kind
                                                           : kind + " (" + node->name + ")";
    }
}

std::string RecordedTitles::of(const std::string& name) const
{
    const auto it = m_titles.find(name);
    return it == m_titles.end() ? name : it->second;
}

} // namespace qs

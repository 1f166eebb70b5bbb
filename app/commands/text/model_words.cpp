// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/model_words.h"

#include "engine/base/text.h"
#include "engine/plan/names/node_words.h"
#include "engine/plan/names/unit_title.h"

namespace qs {

struct ModelWords::Known
{
    GraphPtr graph;
    PlanPtr plan; ///< null without decisions
    mutable std::unique_ptr<NodeTitles> titles; ///< built on first use

    std::string titleOf(const Node& node) const
    {
        if (!titles)
            titles = std::make_unique<NodeTitles>(*graph);
        return plan ? unitTitle(*titles, *plan, plan->tryGet(*graph, node.id), node)
                    : titles->of(node);
    }
};

ModelWords::ModelWords() = default;
ModelWords::~ModelWords() = default;

void ModelWords::know(GraphPtr graph, PlanPtr plan)
{
    const std::lock_guard lock(m_mutex);
    m_known.push_back(std::make_unique<Known>(Known {std::move(graph), std::move(plan), {}}));
}

/// Returns the replacement for a node's name; empty if the node is missing, or if its title is
/// the same.
std::string ModelWords::wordsFor(const std::string& name) const
{
    for (auto known = m_known.rbegin(); known != m_known.rend(); ++known)
        if (const Node* node = (*known)->graph->tryFind(name)) {
            const std::string title = (*known)->titleOf(*node);
            return title == name ? std::string() : inQuotes(title) + " (" + name + ")";
        }
    return {};
}

std::string ModelWords::named(const std::string& line) const
{
    const std::lock_guard lock(m_mutex);
    return withNodeWords(line, [this](const std::string& name) { return wordsFor(name); });
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/search/node_filter.h"

#include "ui/session/workspace.h"

namespace qs {

Result<std::optional<std::set<NodeId>>> NodeFilter::find(const QString& expression)
{
    std::optional<std::set<NodeId>> kept;
    QS_TRY(const SearchQuery query, parseSearch(expression));
    const auto& tree = m_workspace.foldTree();
    if (!tree || query.terms.empty())
        return kept;
    if (!m_index)
        m_index.emplace(tree, m_workspace.document().model());
    kept.emplace();
    for (const int unit :
         m_index->find(query, m_workspace.facts(), m_workspace.bookmarks().nodes()))
        for (const NodeId node : tree->nodesOf(unit))
            kept->insert(node);
    return kept;
}

} // namespace qs

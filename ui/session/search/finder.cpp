// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/search/finder.h"

#include "ui/session/coalesce.h"
#include "ui/session/workspace.h"

#include <algorithm>

namespace qs {

Finder::Finder(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
{
    const auto later = coalesced(this, [this] { search(); });
    connect(&workspace, &Workspace::treeChanged, this, [this, later] {
        m_index.reset();
        m_results.clear(); // entries of the previous tree
        later();
    });
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.bookmarks(), &Bookmarks::changed, this, later);
}

void Finder::setExpression(const QString& text)
{
    if (text == m_expression)
        return;
    m_expression = text;
    auto query = parseSearch(text);
    m_error = query ? QString() : searchProblem(query.error());
    m_query = query ? std::move(*query) : SearchQuery();
    search();
}

void Finder::search()
{
    m_results.clear();
    const auto& tree = m_workspace.foldTree();
    if (tree && !m_query.terms.empty()) {
        if (!m_index)
            m_index.emplace(tree, m_workspace.document().model());
        m_results = m_index->find(m_query, m_workspace.facts(), m_workspace.bookmarks().nodes());
    }
    Q_EMIT changed();
}

bool Finder::step(int direction)
{
    if (m_results.empty())
        return false;
    const auto selected = m_workspace.selectedEntries();
    const auto count = qsizetype(m_results.size());
    qsizetype next = direction > 0 ? 0 : count - 1;
    if (selected.size() == 1) {
        const auto& tree = *m_workspace.foldTree();
        const auto before
            = [&tree](int a, int b) { return tree.entry(a).order < tree.entry(b).order; };
        const auto low = std::lower_bound(m_results.begin(), m_results.end(), selected[0], before)
            - m_results.begin();
        const bool isResult = low < count && m_results[std::size_t(low)] == selected[0];
        next = direction > 0 ? low + (isResult ? 1 : 0) : low - 1;
        next = (next + count) % count;
    }
    m_workspace.selectEntry(m_results[std::size_t(next)]);
    return true;
}

void Finder::selectAll()
{
    m_workspace.selectEntries(m_results, false);
}

} // namespace qs

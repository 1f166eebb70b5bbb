// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"
#include "ui/session/fold_tree.h"
#include "ui/session/search/search_query.h"

#include <QString>

#include <unordered_set>
#include <vector>

namespace qs {

/// Finds units of a tree. Scans one flat text of all units' names, so that a search over 50,000
/// nodes keeps up with typing. Immutable; any thread.
class NodeSearch
{
public:
    NodeSearch(FoldTreePtr tree, GraphPtr model);
    /// Units that meet every term, in graph order; empty for a query without terms.
    std::vector<int> find(const SearchQuery& query, const Facts& facts,
                          const std::unordered_set<NodeId>& bookmarks = {}) const;

private:
    void keepText(const SearchTerm& term, std::vector<char>& keep) const;
    bool hasMatch(const Pattern& pattern, std::size_t line) const;
    /// Inputs of one search beside the facts.
    struct Asked
    {
        const std::unordered_set<NodeId>& bookmarks;
        double seconds = 0; ///< time of all units
    };
    bool meets(const SearchTerm& term, std::size_t line, const Facts& facts,
               const Asked& asked) const;
    std::optional<double> figure(const SearchTerm& term, const FoldEntry& entry, const Facts& facts,
                                 double seconds) const;
    double allSeconds(const Facts& facts) const;

    FoldTreePtr m_tree;
    GraphPtr m_model;
    std::vector<int> m_units; ///< in graph order; one line of `m_text` each
    QString m_text; ///< lower case
    std::vector<qsizetype> m_start; ///< of each line, and the end
    std::string m_names; ///< in original case, each once per unit, without separators
    std::vector<std::size_t> m_nameEnds; ///< in `m_names`
    std::vector<std::size_t> m_namesOf; ///< by line: index of its first name; and the end
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/search/node_search.h"
#endif

#include <optional>
#include <set>

namespace qs {

class Workspace;

/// Finds the nodes of the open model that match a search expression; for tables that filter their
/// rows. GUI thread only.
class NodeFilter
{
public:
    explicit NodeFilter(Workspace& workspace)
        : m_workspace(workspace)
    {
    }
    /// The matching nodes; nothing (= all) for an expression without terms. Errors:
    /// `parseSearch`'s.
    Result<std::optional<std::set<NodeId>>> find(const QString& expression);
    /// Drops the index: the tree changed.
    void forget() { m_index.reset(); }

private:
    Workspace& m_workspace;
    std::optional<NodeSearch> m_index; ///< of the current tree, built on first use
};

} // namespace qs

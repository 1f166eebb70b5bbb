// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/search/node_search.h"
#endif

#include <QObject>

#include <optional>

namespace qs {

class Workspace;

/// The search of the window: an expression, its results, and stepping through them. It
/// follows model, plan, results and bookmarks. GUI thread only.
class Finder : public QObject
{
    Q_OBJECT

public:
    explicit Finder(Workspace& workspace, QObject* parent = nullptr);

    void setExpression(const QString& text);
    const QString& expression() const { return m_expression; }
    /// The error of the expression; empty if it is valid.
    const QString& error() const { return m_error; }
    /// Units of the workspace's tree in graph order.
    const std::vector<int>& results() const { return m_results; }
    /// Selects the result after (+1) or before (-1) the selection, wrapping at the ends. False
    /// without results.
    bool step(int direction);
    /// Selects every result.
    void selectAll();

Q_SIGNALS:
    void changed();

private:
    void search();

    Workspace& m_workspace;
    std::optional<NodeSearch> m_index; ///< of the current tree, built on first use
    QString m_expression, m_error;
    SearchQuery m_query;
    std::vector<int> m_results;
};

} // namespace qs

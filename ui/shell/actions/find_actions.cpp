// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/find_actions.h"

#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/session/search/finder.h"
#include "ui/session/search/search_query.h"
#include "ui/session/workspace.h"

#include <QAction>

namespace qs {

FindActions::FindActions(Actions& actions, Workspace& workspace, Finder& finder, GraphPane& graph,
                         MessageBar& messages, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_finder(finder)
    , m_graph(graph)
    , m_messages(messages)
{
    connect(&actions[ActionId::FindNext], &QAction::triggered, this, [this] { step(1); });
    connect(&actions[ActionId::FindPrevious], &QAction::triggered, this, [this] { step(-1); });
    connect(&actions[ActionId::SelectFound], &QAction::triggered, &finder, &Finder::selectAll);
    connect(&actions[ActionId::Bookmark], &QAction::triggered, this,
            [&workspace] { workspace.bookmarks().toggle(workspace.selection().nodes()); });
    connect(&actions[ActionId::NextBookmark], &QAction::triggered, this,
            &FindActions::nextBookmark);
}

void FindActions::step(int direction)
{
    if (m_finder.step(direction)) {
        m_graph.revealSelection();
        return;
    }
    const bool asked = !m_finder.expression().trimmed().isEmpty();
    const QString what = !m_finder.error().isEmpty() ? m_finder.error()
        : asked ? tr("Nothing matches \"%1\"").arg(m_finder.expression())
                : tr("Nothing to find yet: type into the search field (Ctrl+F)");
    m_messages.showMessage(MessageBar::Kind::Note, what, searchHint());
}

void FindActions::nextBookmark()
{
    const auto& nodes = m_workspace.selection().nodes();
    const NodeId next = m_workspace.bookmarks().next(nodes.empty() ? NodeId() : nodes.back());
    if (!next) {
        m_messages.showMessage(MessageBar::Kind::Note, tr("No bookmarks yet"),
                               tr("Ctrl+D marks what is selected; is:bookmark finds it"));
        return;
    }
    m_workspace.selectNode(next);
    m_graph.revealSelection();
}

} // namespace qs

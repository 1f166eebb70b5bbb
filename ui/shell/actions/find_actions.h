// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace qs {

class Actions;
class Finder;
class GraphPane;
class MessageBar;
class Workspace;

/// Steps through the search results and the bookmarks. GUI thread only.
class FindActions : public QObject
{
    Q_OBJECT

public:
    FindActions(Actions& actions, Workspace& workspace, Finder& finder, GraphPane& graph,
                MessageBar& messages, QObject* parent);

private:
    void step(int direction);
    void nextBookmark();

    Workspace& m_workspace;
    Finder& m_finder;
    GraphPane& m_graph;
    MessageBar& m_messages;
};

} // namespace qs

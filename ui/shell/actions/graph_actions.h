// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace qs {

class Actions;
class GraphPane;
class MessageBar;
class Workspace;

/// Folding and unfolding in the graph, boxes around repeated blocks, and the graph's direction. The
/// last two are stored in the user's settings. GUI thread only.
class GraphActions : public QObject
{
    Q_OBJECT

public:
    GraphActions(Actions& actions, Workspace& workspace, GraphPane& graph, MessageBar& messages,
                 QObject* parent);

private:
    /// Unfolds or folds the first selected module, or the module of the first selected node.
    void fold(bool open);
    void foldRepeats();
    /// Shows a menu of the selected box's blocks, the worst first.
    void offerBlocks();

    Workspace& m_workspace;
    GraphPane& m_graph;
    MessageBar& m_messages;
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/edit/graph_editor.h"
#endif

#include <QObject>

class QWidget;

namespace qs {

class Actions;
class EditDialog;
class GraphView;
class MessageBar;

/// The commands that change the model's graph: each asks for its input, tries the edit and makes it
/// one undoable step. They apply to the selected edge or operators: Remove removes all of them, the
/// others ask for one. GUI thread only.
class EditActions : public QObject
{
    Q_OBJECT

public:
    EditActions(Actions& actions, Workspace& workspace, GraphEditor& editor, MessageBar& messages,
                QWidget& window, QObject* parent);

    /// Enables edits by dragging in a view of the graph.
    void takeDrags(GraphView& view);

private:
    /// The object of a command: the selected edge, else the selected operators.
    struct About
    {
        GraphPtr model;
        std::optional<Edge> edge;
        /// In graph order: the members of a unit; the producer and reader of an edge.
        std::vector<NodeId> operators;
    };
    About about() const;
    /// True if there is a graph to edit; else shows a message with the remedy.
    bool canEdit();
    using Ask = std::function<void(EditDialog& dialog, const About& about, const Node& node)>;

    void connectCommands();
    /// Asks for an edit of an operator; if there are several, first for the operator.
    void ask(const QString& ok, const Ask& rest);
    void insert(bool before);
    void remove();
    void removeAll(const std::vector<NodeId>& operators);
    void rewire();
    void duplicate();
    void makeOutput();
    void loadConstant();
    void dropOutput();
    void saveEdited();
    /// Makes the edit without a question; errors go to the message bar.
    void make(const EditStep& step);
    void refuse(const QString& what, const QString& why);
    /// Returns a dialog that deletes itself when closed. `ok`: text of its button.
    EditDialog* newDialog(const QString& title, const QString& ok);
    void refresh();

    Actions& m_actions;
    Workspace& m_workspace;
    GraphEditor& m_editor;
    MessageBar& m_messages;
    QWidget& m_window;
};

} // namespace qs

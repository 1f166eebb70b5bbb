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

/// The commands that change the model's graph: each asks for what it needs, tries the edit and
/// makes it one undoable step. They are about the selected edge, or the selected operators: Remove
/// takes all of them out, the others ask which one is meant. GUI thread only.
class EditActions : public QObject
{
    Q_OBJECT

public:
    EditActions(Actions& actions, Workspace& workspace, GraphEditor& editor, MessageBar& messages,
                QWidget& window, QObject* parent);

    /// Edits by dragging in a view of the graph.
    void takeDrags(GraphView& view);

private:
    /// What a command is about: the selected edge, else the selected operators.
    struct About
    {
        GraphPtr model;
        std::optional<Edge> edge;
        /// In graph order: of a unit its members; of an edge what makes its value and what reads
        /// it.
        std::vector<NodeId> operators;
    };
    About about() const;
    /// Whether there is a graph to edit; else says how to get it.
    bool canEdit();
    using Ask = std::function<void(EditDialog& dialog, const About& about, const Node& node)>;

    void connectCommands();
    /// Asks for an edit of an operator; of several first which one.
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
    /// The edit without a question; a refusal goes to the message bar.
    void make(const EditStep& step);
    void refuse(const QString& what, const QString& why);
    /// `ok`: the word on its button. Goes when it is closed.
    EditDialog* newDialog(const QString& title, const QString& ok);
    void refresh();

    Actions& m_actions;
    Workspace& m_workspace;
    GraphEditor& m_editor;
    MessageBar& m_messages;
    QWidget& m_window;
};

} // namespace qs

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
/// makes it one undoable step. They follow the selected node. GUI thread only.
class EditActions : public QObject
{
    Q_OBJECT

public:
    EditActions(Actions& actions, Workspace& workspace, GraphEditor& editor, MessageBar& messages,
                QWidget& window, QObject* parent);

    /// Edits by dragging in a view of the graph.
    void takeDrags(GraphView& view);

private:
    void insert();
    void insertOnInput();
    void remove();
    void replace(bool every);
    void setArguments();
    void rewire();
    void duplicate();
    void rename();
    void loadConstant();
    void dropOutput();
    void saveEdited();
    /// The edit without a question; a refusal goes to the message bar.
    void make(const EditStep& step);
    /// `ok`: the word on its button. Goes when it is closed.
    EditDialog* newDialog(const QString& title, const QString& ok);
    void refresh();
    /// The selected operator, or the last of a selected unit; null without.
    const Node* selected() const;
    EditStep about(EditKind kind) const;

    Actions& m_actions;
    Workspace& m_workspace;
    GraphEditor& m_editor;
    MessageBar& m_messages;
    QWidget& m_window;
};

} // namespace qs

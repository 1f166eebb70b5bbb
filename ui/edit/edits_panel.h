// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/strong_id.h"
#endif

#include <QWidget>

#include <vector>

class QCheckBox;
class QPushButton;
class QTreeWidget;

namespace qs {

class GraphEditor;
class Workspace;

/// The edits of the model's graph in order, with the reason for those that do not fit; below, the
/// recipe's cures, each with a switch. A click selects the nodes of an edit or a cure. One of them
/// can be removed. Each change is an undoable step. GUI thread only.
class EditsPanel : public QWidget
{
    Q_OBJECT

public:
    EditsPanel(Workspace& workspace, GraphEditor& editor, QWidget* parent = nullptr);

Q_SIGNALS:
    void countChanged(int count);
    /// A row was chosen: bring its nodes into view.
    void revealWanted();
    /// The user wants to save the edited model to a file.
    void saveWanted();
    /// The user wants to compare against the other model: the original or the edited one.
    void againstWanted();

private:
    void refresh();
    void refreshCures();
    void choose();
    void chooseCure();
    void takeAway();
    void selectNodes(std::vector<NodeId> nodes);

    Workspace& m_workspace;
    GraphEditor& m_editor;
    QTreeWidget* m_list;
    QTreeWidget* m_cures; ///< hidden without cures
    QPushButton* m_save;
    QPushButton* m_takeAway;
    QCheckBox* m_original;
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QCheckBox;
class QPushButton;
class QTreeWidget;

namespace qs {

class GraphEditor;
class Workspace;

/// The list of what was changed in the model's graph, in order, with the edits that do not fit and
/// why. A click selects what an edit touched; one edit can be taken away, which is an undoable
/// step. GUI thread only.
class EditsPanel : public QWidget
{
    Q_OBJECT

public:
    EditsPanel(Workspace& workspace, GraphEditor& editor, QWidget* parent = nullptr);

Q_SIGNALS:
    void countChanged(int count);
    /// A row was chosen: bring its nodes into view.
    void revealWanted();
    /// The edited model is to be written to a file.
    void saveWanted();
    /// Comparisons are to be made with the other model: the original or the edited one.
    void againstWanted();

private:
    void refresh();
    void choose();

    Workspace& m_workspace;
    GraphEditor& m_editor;
    QTreeWidget* m_list;
    QPushButton* m_save;
    QPushButton* m_takeAway;
    QCheckBox* m_original;
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"

#include <QWidget>

class QTreeView;

namespace qs {

class ModuleTreeModel;
class Workspace;

/// The left panel's tree: modules with qconfig and error, in step with the shared selection. GUI
/// thread only.
class ModulePanel : public QWidget
{
    Q_OBJECT

public:
    explicit ModulePanel(Workspace& workspace, QWidget* parent = nullptr);
    QTreeView& tree() { return *m_tree; }

Q_SIGNALS:
    /// The user picked a row: bring it into view in the graph.
    void revealWanted();
    /// The user asked for a menu on the row of an entry.
    void contextMenuWanted(int entry, const QPoint& at);

private:
    void onTreeReset();
    void onRowsSelected();
    void syncSelection();
    void applyFilter(const QModelIndex& parent);

    Workspace& m_workspace;
    ModuleTreeModel* m_model;
    QTreeView* m_tree;
    bool m_syncing = false;
    bool m_filtered = false;
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/fold_tree.h"
#endif

#include <QSet>
#include <QWidget>

#include <set>
#include <string>

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
    /// Shows the boxes around repeated blocks of a tree grouped from the workspace's; `open` has
    /// the paths of modules and boxes that the graph shows unfolded.
    void showBoxes(const FoldTreePtr& grouped, const std::set<std::string>& open);

Q_SIGNALS:
    /// The user picked a row: bring it into view in the graph.
    void revealWanted();
    /// The user opened the context menu on the row of an entry.
    void contextMenuWanted(int entry, const QPoint& at);
    /// The user unfolded or folded the row of a box around repeated blocks.
    void boxToggled(const QString& key, bool open);

private:
    void onTreeReset();
    void expandFirst();
    void onRowsSelected();
    void syncSelection();
    void showSelected();
    bool passesFilter(int entry) const;
    void applyFilter(const QModelIndex& parent);

    Workspace& m_workspace;
    ModuleTreeModel* m_model;
    QTreeView* m_tree;
    QSet<QString> m_openBoxes; ///< keys of the boxes that the graph shows unfolded
    bool m_syncing = false; ///< the panel itself changes the rows
    bool m_filtered = false;
};

} // namespace qs

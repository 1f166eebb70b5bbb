// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/style/graph_style.h"

#include <QAbstractItemModel>

namespace qs {

class Workspace;

/// The module hierarchy with qconfig and error. Rows are the entries of the workspace's FoldTree.
/// GUI thread only.
class ModuleTreeModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column
    {
        Name,
        QConfigColumn,
        ErrorColumn,
        ColumnCount
    };
    enum Role
    {
        EntryRole = Qt::UserRole, ///< int: index into the FoldTree
        ColorRole, ///< QColor of the error, invalid without one
        OverriddenRole, ///< bool: a rule of the user's own decides
        StaleRole ///< bool: the error is older than the recipe
    };

    explicit ModuleTreeModel(Workspace& workspace, QObject* parent = nullptr);

    QModelIndex indexOf(int entry, int column = 0) const;
    int entryOf(const QModelIndex& index) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void readRows();
    QVariant text(int entry, int column) const;
    QVariant toolTip(int entry, int column) const;
    void refresh(const QModelIndex& parent);

    Workspace& m_workspace;
    FoldTreePtr m_tree;
    std::vector<int> m_rowOf; ///< row of each entry in its parent
};

} // namespace qs

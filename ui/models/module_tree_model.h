// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/style/graph_style.h"

#include <QAbstractItemModel>

namespace qs {

class Workspace;

/// The module hierarchy with qconfig and error. Rows are the entries of the workspace's FoldTree
/// and the graph's boxes around repeated blocks. GUI thread only.
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
        OverriddenRole, ///< bool: a rule of the user decides
        StaleRole ///< bool: the error is older than the recipe
    };

    explicit ModuleTreeModel(Workspace& workspace, QObject* parent = nullptr);

    /// Shows the boxes of a tree that was grouped from the workspace's; ignores other trees. False
    /// if no row changed.
    bool showBoxes(const FoldTreePtr& grouped);
    /// The tree of the rows; null without a model.
    const FoldTreePtr& tree() const { return m_tree; }
    bool isBox(int entry) const { return m_tree && m_tree->entry(entry).repeats > 0; }

    QModelIndex indexOf(int entry, int column = 0) const;
    int entryOf(const QModelIndex& index) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void take(FoldTreePtr tree);
    void readRows();
    /// Returns "28…41" for a box: from its worst block to its best.
    QString spreadText(int box) const;
    std::optional<std::pair<double, double>> boxSpread(int box) const;
    QVariant text(int entry, int column) const;
    QVariant toolTip(int entry, int column) const;
    void refresh(const QModelIndex& parent);

    Workspace& m_workspace;
    FoldTreePtr m_tree;
    std::vector<int> m_rowOf; ///< row of each entry in its parent
};

} // namespace qs

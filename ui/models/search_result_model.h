// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/table_model.h"

#include <vector>

namespace qs {

class Workspace;

/// The results of a search, units of the workspace's tree, as a flat table. GUI thread only.
class SearchResultModel : public TableModel
{
    Q_OBJECT

public:
    enum Column
    {
        Name,
        Module,
        QConfigColumn,
        ErrorColumn
    };

    explicit SearchResultModel(Workspace& workspace, QObject* parent = nullptr);

    /// Sets the results: entries of the workspace's current tree.
    void setUnits(std::vector<int> units);
    /// The entry of a row; -1 for a row without an entry.
    int unitOf(const QModelIndex& index) const;
    /// The row of an entry; -1 without one.
    int rowOf(int unit) const;

protected:
    std::size_t rows() const override { return m_units.size(); }
    QVariant cell(int row, int column) const override;

private:
    Workspace& m_workspace;
    std::vector<int> m_units;
};

} // namespace qs

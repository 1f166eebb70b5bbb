// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/runs/run_table.h"
#endif

#include "ui/models/table_model.h"

#include <memory>

namespace qs {

/// Runs side by side, one row per node, the greatest loss first; numbers under Qt::UserRole. The
/// engine provides the cells (`RunTable`). GUI thread only.
class RunTableModel : public TableModel
{
    Q_OBJECT

public:
    explicit RunTableModel(QObject* parent = nullptr)
        : TableModel({}, parent)
    {
    }
    /// The node's name in the file; cells show its title.
    static constexpr int kNameRole = Qt::UserRole + 1;

    /// Null: no rows and no columns.
    void setTable(std::shared_ptr<const RunTable> table);
    const RunTable* table() const { return m_table.get(); }
    /// The index in the table of a shown row.
    std::size_t placeOf(int row) const { return m_order[std::size_t(row)]; }
    const RunRow& rowAt(int row) const { return m_table->rows()[placeOf(row)]; }

    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    std::size_t rows() const override { return m_order.size(); }
    QVariant cell(int row, int column) const override;

private:
    std::shared_ptr<const RunTable> m_table;
    std::vector<std::size_t> m_order;
};

} // namespace qs

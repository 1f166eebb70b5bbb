// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QString>

#include <vector>

class QItemSelectionModel;

namespace qs {

/// One column of a table or tree. A value.
struct TableColumn
{
    /// The kind of its cells; numbers are aligned to the right.
    enum class Cells
    {
        Text,
        Decibels, ///< SQNR
        Cosine, ///< five decimals
        Number, ///< three digits
        Whole, ///< an integer
        Percent ///< of a share from 0 to 1
    };
    QString title, toolTip;
    Cells cells = Cells::Text;
    bool isDifference = false; ///< numbers have a sign

    /// For `Qt::TextAlignmentRole`, of the head and of the cells.
    int alignment() const
    {
        return (cells == Cells::Text ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter;
    }
};
using TableColumns = std::vector<TableColumn>;

/// Implements `QAbstractItemModel::headerData` for these columns: title, tool tip (else the title),
/// alignment.
QVariant headerOf(const TableColumns& columns, int section, Qt::Orientation orientation, int role);

/// A flat table of texts and numbers. Cells are formatted by their column; tool tips show exact
/// numbers; Qt::UserRole has the texts and numbers. GUI thread only.
class TableModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    explicit TableModel(TableColumns columns, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

protected:
    virtual std::size_t rows() const = 0;
    /// Returns a QString, a double, or an invalid QVariant.
    virtual QVariant cell(int row, int column) const = 0;
    const TableColumn& column(int at) const { return m_columns[std::size_t(at)]; }
    /// Only between `beginResetModel` and `endResetModel`.
    void setColumns(TableColumns columns) { m_columns = std::move(columns); }
    /// Signals that every cell may have changed; the rows stay.
    void refreshCells();

private:
    TableColumns m_columns;
};

/// Returns rows of such a table as CSV (RFC 4180): titles first, exact numbers.
QString csvOf(const QAbstractItemModel& table, const std::vector<int>& rows);
/// Returns the selected rows as CSV, or all rows if fewer than two are selected: one click selects
/// a row for inspection, not for copying.
QString csvOfChosen(const QAbstractItemModel& table, const QItemSelectionModel& selected);

} // namespace qs

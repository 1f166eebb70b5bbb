// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/table_model.h"

#include "ui/session/text.h"

#include <QItemSelectionModel>
#include <QStringList>

#include <algorithm>

namespace qs {

namespace {

QString shownNumber(double number, const TableColumn& column)
{
    const QString sign = column.isDifference && number > 0 ? QStringLiteral("+") : QString();
    switch (column.cells) {
    case TableColumn::Cells::Decibels:
        return column.isDifference ? sign + QString::number(number, 'f', 2) : shownSqnr(number, "");
    case TableColumn::Cells::Cosine:
        if (!column.isDifference)
            return QString::number(number, 'f', 5);
        break;
    case TableColumn::Cells::Whole:
        return QString::number(number, 'f', 0);
    case TableColumn::Cells::Percent:
        return QStringLiteral("%1 %").arg(number * 100, 0, 'f', 1);
    default:
        break;
    }
    return sign + QString::number(number, 'g', 3);
}

QString csvCell(const QString& text)
{
    if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"'))
        && !text.contains(QLatin1Char('\n')))
        return text;
    return QStringLiteral("\"%1\"").arg(
        QString(text).replace(QLatin1Char('"'), QStringLiteral("\"\"")));
}

} // namespace

QVariant headerOf(const TableColumns& columns, int section, Qt::Orientation orientation, int role)
{
    if (orientation != Qt::Horizontal || section < 0 || section >= int(columns.size()))
        return {};
    const TableColumn& column = columns[std::size_t(section)];
    switch (role) {
    case Qt::DisplayRole:
        return column.title;
    case Qt::ToolTipRole:
        return column.toolTip.isEmpty() ? column.title : column.toolTip;
    case Qt::TextAlignmentRole:
        return column.alignment();
    default:
        return {};
    }
}

TableModel::TableModel(TableColumns columns, QObject* parent)
    : QAbstractTableModel(parent)
    , m_columns(std::move(columns))
{
}

int TableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(rows());
}

int TableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_columns.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const TableColumn& of = column(index.column());
    if (role == Qt::TextAlignmentRole)
        return of.alignment();
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != Qt::UserRole)
        return {};
    const QVariant found = cell(index.row(), index.column());
    if (role == Qt::UserRole || found.typeId() != QMetaType::Double)
        return found;
    return role == Qt::ToolTipRole ? QString::number(found.toDouble(), 'g', 17)
                                   : shownNumber(found.toDouble(), of);
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    return headerOf(m_columns, section, orientation, role);
}

void TableModel::refreshCells()
{
    if (rowCount() > 0)
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

QString csvOf(const QAbstractItemModel& table, const std::vector<int>& rows)
{
    const int columns = table.columnCount();
    QStringList line;
    for (int column = 0; column < columns; ++column)
        line << csvCell(table.headerData(column, Qt::Horizontal).toString());
    QString out = line.join(QLatin1Char(',')) + QStringLiteral("\r\n");
    for (const int row : rows) {
        line.clear();
        for (int column = 0; column < columns; ++column) {
            const QVariant value = table.index(row, column).data(Qt::UserRole);
            line << (value.typeId() == QMetaType::Double
                         ? QString::number(value.toDouble(), 'g', 17)
                         : csvCell(value.toString()));
        }
        out += line.join(QLatin1Char(',')) + QStringLiteral("\r\n");
    }
    return out;
}

QString csvOfChosen(const QAbstractItemModel& table, const QItemSelectionModel& selected)
{
    std::vector<int> rows;
    for (const QModelIndex& index : selected.selectedRows())
        rows.push_back(index.row());
    std::sort(rows.begin(), rows.end());
    if (rows.size() < 2) {
        rows.clear();
        for (int row = 0; row < table.rowCount(); ++row)
            rows.push_back(row);
    }
    return csvOf(table, rows);
}

} // namespace qs

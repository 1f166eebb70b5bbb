// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/run_table_model.h"

#include "ui/session/text.h"
#include "ui/style/theme.h"

namespace qs {

namespace {

TableColumns columnsOf(const RunTable& table)
{
    using Cells = TableColumn::Cells;
    TableColumns out;
    for (const RunColumn& column : table.columns()) {
        const Cells cells = !column.isNumber() ? Cells::Text
            : column.metric == 0               ? Cells::Decibels
            : column.metric == 1               ? Cells::Cosine
                                               : Cells::Number;
        out.push_back(
            {toQString(column.title), {}, cells, column.kind == RunColumn::Kind::Difference});
    }
    return out;
}

} // namespace

void RunTableModel::setTable(std::shared_ptr<const RunTable> table)
{
    beginResetModel();
    m_table = std::move(table);
    m_order = m_table ? m_table->worstFirst() : std::vector<std::size_t>();
    setColumns(m_table ? columnsOf(*m_table) : TableColumns());
    endResetModel();
}

QVariant RunTableModel::cell(int row, int column) const
{
    const RunColumn& of = m_table->columns()[std::size_t(column)];
    const std::size_t place = placeOf(row);
    if (of.isNumber()) {
        const auto value = m_table->number(place, of);
        return value ? QVariant(*value) : QVariant();
    }
    const QString word = toQString(of.kind == RunColumn::Kind::Node ? m_table->rows()[place].title
                                                                    : m_table->word(place, of));
    return word.isEmpty() ? QVariant() : QVariant(word);
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const RunColumn& of = m_table->columns()[std::size_t(index.column())];
    const std::size_t row = placeOf(index.row());
    if (role == Qt::ForegroundRole && of.kind == RunColumn::Kind::State)
        return m_table->rows()[row].state == RunRow::State::Same ? QVariant(theme().muted)
                                                                 : QVariant(theme().warning);
    if (role == kNameRole)
        return of.kind == RunColumn::Kind::Node ? QVariant(toQString(m_table->word(row, of)))
                                                : cell(index.row(), index.column());
    return TableModel::data(index, role);
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    const QVariant found = TableModel::headerData(section, orientation, role);
    return role == Qt::TextAlignmentRole && found.isValid()
        ? QVariant(found.toInt() | int(Qt::TextWordWrap))
        : found;
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/run_table_model.h"

#include "ui/session/text.h"
#include "ui/style/theme.h"

namespace qs {

void RunTableModel::setTable(std::shared_ptr<const RunTable> table)
{
    beginResetModel();
    m_table = std::move(table);
    m_order = m_table ? m_table->worstFirst() : std::vector<std::size_t>();
    endResetModel();
}

int RunTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_order.size());
}

int RunTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_table ? 0 : int(m_table->columns().size());
}

QVariant RunTableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const RunColumn& column = m_table->columns()[std::size_t(index.column())];
    const std::size_t row = placeOf(index.row());
    if (role == Qt::TextAlignmentRole)
        return int((column.isNumber() ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ForegroundRole && column.kind == RunColumn::Kind::State)
        return m_table->rows()[row].state == RunRow::State::Same ? QVariant(theme().muted)
                                                                 : QVariant(theme().warning);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != Qt::UserRole
        && role != kNameRole)
        return {};
    if (!column.isNumber()) {
        const bool isTitle = column.kind == RunColumn::Kind::Node && role != kNameRole;
        const QString word
            = toQString(isTitle ? m_table->rows()[row].title : m_table->word(row, column));
        return word.isEmpty() ? QVariant() : QVariant(word);
    }
    const auto value = m_table->number(row, column);
    if (!value)
        return {};
    if (role == Qt::UserRole)
        return *value;
    if (role == Qt::ToolTipRole)
        return QString::number(*value, 'g', 17);
    const bool isDifference = column.kind == RunColumn::Kind::Difference;
    const QString sign = isDifference && *value > 0 ? QStringLiteral("+") : QString();
    if (column.metric == 0)
        return sign + QString::number(*value, 'f', isDifference ? 2 : 1);
    return sign
        + (column.metric == 1 && !isDifference ? QString::number(*value, 'f', 5)
                                               : QString::number(*value, 'g', 3));
}

QVariant RunTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || !m_table || section < 0 || section >= columnCount())
        return {};
    const RunColumn& column = m_table->columns()[std::size_t(section)];
    if (role == Qt::TextAlignmentRole)
        return int((column.isNumber() ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter)
            | int(Qt::TextWordWrap);
    return role == Qt::DisplayRole || role == Qt::ToolTipRole ? QVariant(toQString(column.title))
                                                              : QVariant();
}

} // namespace qs

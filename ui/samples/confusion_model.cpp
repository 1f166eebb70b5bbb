// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/confusion_model.h"

#include "engine/base/text.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"

#include <algorithm>
#include <set>

namespace qs {

void ConfusionModel::show(const ClassCounts* counts, bool ofLabels)
{
    PairCounts shown;
    if (counts)
        shown = ofLabels ? counts->labelInt8 : counts->floatInt8;
    const std::int64_t classes = counts ? counts->classes : 0;
    if (shown == m_counts && ofLabels == m_isOfLabels && classes == m_classes)
        return;
    beginResetModel();
    m_counts = std::move(shown);
    m_isOfLabels = ofLabels;
    m_classes = classes;
    chooseClasses(classes);
    endResetModel();
}

void ConfusionModel::chooseClasses(std::int64_t classes)
{
    m_rows.clear();
    m_columns.clear();
    m_most = 0;
    std::map<std::int64_t, std::int64_t> differing; // samples off the diagonal, by class
    std::set<std::int64_t> rows;
    for (const auto& [row, columns] : m_counts)
        for (const auto& [column, count] : columns) {
            rows.insert(row);
            if (row == column)
                continue;
            m_most = std::max(m_most, count);
            differing[row] += count;
            differing[column] += count;
        }
    m_differing = differing.size();
    m_isWhole = std::max(classes, std::int64_t(rows.size())) <= std::int64_t(kMostClasses);
    if (m_isWhole) {
        for (std::int64_t i = 0; i < classes; ++i) {
            rows.insert(i);
            m_columns.push_back(i);
        }
        m_rows.assign(rows.begin(), rows.end()); // with labels beyond the classes
        return;
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> most;
    for (const auto& [number, count] : differing)
        most.emplace_back(-count, number);
    std::sort(most.begin(), most.end());
    if (most.size() > kMostClasses)
        most.resize(kMostClasses);
    for (const auto& [count, number] : most)
        m_rows.push_back(number);
    std::sort(m_rows.begin(), m_rows.end());
    m_columns = m_rows;
}

std::int64_t ConfusionModel::count(int row, int column) const
{
    const auto found = m_counts.find(rowClass(row));
    if (found == m_counts.end())
        return 0;
    const auto cell = found->second.find(columnClass(column));
    return cell == found->second.end() ? 0 : cell->second;
}

QString ConfusionModel::describe(int row, int column) const
{
    return (m_isOfLabels ? tr("label %1, int8 %2: %3") : tr("float %1, int8 %2: %3"))
        .arg(rowClass(row))
        .arg(columnClass(column))
        .arg(toQString(counted(count(row, column), "sample")));
}

QString ConfusionModel::note() const
{
    const std::int64_t all = totalOf(m_counts), differing = all - equalIn(m_counts);
    QString figure = (m_isOfLabels ? tr("%1 of %2 wrong in int8") : tr("%1 of %2 changed"))
                         .arg(differing)
                         .arg(all);
    if (m_isWhole)
        return figure;
    const QString classes = m_rows.size() < m_differing
        ? tr("the %1 of %2 classes with most differences").arg(m_rows.size()).arg(m_classes)
        : tr("the %1 of %2 classes with differences").arg(m_rows.size()).arg(m_classes);
    return tr("%1 · %2").arg(figure, classes);
}

int ConfusionModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

int ConfusionModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_columns.size());
}

QVariant ConfusionModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const std::int64_t samples = count(index.row(), index.column());
    const bool isEqual = rowClass(index.row()) == columnClass(index.column());
    switch (role) {
    case Qt::DisplayRole:
        return samples > 0 ? QString::number(samples) : QString();
    case Qt::UserRole:
        return double(samples);
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole:
        return describe(index.row(), index.column());
    case Qt::TextAlignmentRole:
        return int(Qt::AlignCenter);
    case kShareRole:
        return samples > 0 && !isEqual ? QVariant(double(samples) / double(m_most)) : QVariant();
    default:
        return {};
    }
}

QVariant ConfusionModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    const bool isRow = orientation == Qt::Vertical;
    if (section < 0 || section >= int(isRow ? m_rows.size() : m_columns.size()))
        return {};
    const std::int64_t number = isRow ? rowClass(section) : columnClass(section);
    if (role == Qt::DisplayRole)
        return QString::number(number);
    if (role == Qt::ToolTipRole)
        return (!isRow             ? tr("class %1 in the int8 model")
                    : m_isOfLabels ? tr("label %1")
                                   : tr("class %1 in the float model"))
            .arg(number);
    if (role == Qt::TextAlignmentRole)
        return int(Qt::AlignCenter);
    return {};
}

} // namespace qs

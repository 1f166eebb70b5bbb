// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/search_result_model.h"

#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <algorithm>

namespace qs {

SearchResultModel::SearchResultModel(Workspace& workspace, QObject* parent)
    : QAbstractTableModel(parent)
    , m_workspace(workspace)
{
    // Entries mean nothing in another tree.
    connect(&workspace, &Workspace::treeChanged, this, [this] { setUnits({}); });
}

void SearchResultModel::setUnits(std::vector<int> units)
{
    beginResetModel();
    m_units = std::move(units);
    endResetModel();
}

int SearchResultModel::unitOf(const QModelIndex& index) const
{
    return index.isValid() ? m_units[std::size_t(index.row())] : -1;
}

int SearchResultModel::rowOf(int unit) const
{
    const auto found = std::find(m_units.begin(), m_units.end(), unit);
    return found == m_units.end() ? -1 : int(found - m_units.begin());
}

int SearchResultModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_units.size());
}

int SearchResultModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant SearchResultModel::data(const QModelIndex& index, int role) const
{
    const int unit = unitOf(index);
    if (unit < 0)
        return {};
    const bool isError = index.column() == ErrorColumn;
    if (role == Qt::TextAlignmentRole)
        return int((isError ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
        return {};
    const auto& entry = m_workspace.foldTree()->entry(unit);
    const auto& facts = m_workspace.facts();
    switch (index.column()) {
    case Name:
        return toQString(entry.title);
    case Module:
        return toQString(entry.path);
    case QConfigColumn:
        return facts.decisionText(entry.members, true);
    default:
        break;
    }
    const auto sqnr = facts.worstSqnr(entry.members, ErrorTerm::BornHere);
    return sqnr ? shownSqnr(*sqnr, "") : QString();
}

QVariant SearchResultModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const struct
    {
        const char* name;
        const char* tip;
    } kColumns[] = {
        {QT_TR_NOOP("node"), QT_TR_NOOP("The operator, or the operators that are fused into one")},
        {QT_TR_NOOP("module"), QT_TR_NOOP("The innermost module around it")},
        {QT_TR_NOOP("qconfig"), QT_TR_NOOP("How it is quantized; float where it is not")},
        {QT_TR_NOOP("dB"), QT_TR_NOOP("Signal to quantization noise born in the node")}};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::TextAlignmentRole)
        return int((section == ErrorColumn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::DisplayRole)
        return tr(kColumns[section].name);
    if (role == Qt::ToolTipRole)
        return tr(kColumns[section].tip);
    return {};
}

} // namespace qs

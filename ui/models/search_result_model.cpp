// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/search_result_model.h"

#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <algorithm>

namespace qs {

SearchResultModel::SearchResultModel(Workspace& workspace, QObject* parent)
    : TableModel({{tr("node"), tr("The operator, or the operators that are fused into one")},
                  {tr("module"), tr("The innermost module around it")},
                  {tr("qconfig"), tr("How it is quantized; float where it is not")},
                  {tr("dB"), tr("Signal to quantization noise born in the node"),
                   TableColumn::Cells::Decibels}},
                 parent)
    , m_workspace(workspace)
{
    // Entries are invalid in another tree.
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

QVariant SearchResultModel::cell(int row, int column) const
{
    const auto& entry = m_workspace.foldTree()->entry(m_units[std::size_t(row)]);
    const auto& facts = m_workspace.facts();
    switch (column) {
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
    return sqnr ? QVariant(*sqnr) : QVariant();
}

} // namespace qs

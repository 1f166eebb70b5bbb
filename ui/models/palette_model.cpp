// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/palette_model.h"

#include "ui/session/search/fuzzy_match.h"

#include <algorithm>
#include <utility>

namespace qs {

namespace {

/// Score of a match in the description: above scattered letters, below a substring of the name.
constexpr int kInSentence = 140;

} // namespace

void PaletteModel::setItems(std::vector<PaletteItem> items)
{
    beginResetModel();
    m_items = std::move(items);
    m_rows.clear();
    endResetModel();
    setPattern({});
}

void PaletteModel::setPattern(const QString& pattern)
{
    std::vector<std::pair<int, std::size_t>> ranked;
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        const auto& item = m_items[i];
        // A match in the description adds to the score unless all words are substrings of the name.
        int score = 4 * fuzzyScore(pattern, item.text);
        if (!standsIn(pattern, item.text)
            && standsIn(pattern, item.text + QLatin1Char(' ') + item.detail))
            score += kInSentence;
        if (score > 0)
            ranked.emplace_back(score + (item.enabled ? 1000 : 0), i);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    beginResetModel();
    m_rows.clear();
    for (const auto& [score, row] : ranked)
        m_rows.push_back(row);
    endResetModel();
}

int PaletteModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_rows.size());
}

QVariant PaletteModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const auto& found = item(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return found.text;
    case Qt::ToolTipRole: // the view may shorten both
        return found.detail.isEmpty() ? found.text : found.text + QLatin1Char('\n') + found.detail;
    case DetailRole:
        return found.detail;
    case Qt::AccessibleTextRole:
        return found.keys.isEmpty() ? found.text : found.text + QStringLiteral(", ") + found.keys;
    case KeysRole:
        return found.keys;
    default:
        return {};
    }
}

Qt::ItemFlags PaletteModel::flags(const QModelIndex& index) const
{
    if (!index.isValid())
        return Qt::NoItemFlags;
    return item(index.row()).enabled ? Qt::ItemIsEnabled | Qt::ItemIsSelectable
                                     : Qt::ItemIsSelectable;
}

} // namespace qs

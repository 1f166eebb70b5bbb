// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/column_fit.h"

#include "ui/style/theme.h"

#include <QAbstractItemView>
#include <QEvent>
#include <QHeaderView>

#include <algorithm>

namespace qs {

namespace {

/// Maximum width of a column; longer texts are elided and have a tool tip.
constexpr double kWidest = 150;
/// Minimum width of the stretched column if even the other remaining ones do not fit.
constexpr double kNarrowest = 40;

} // namespace

ColumnFit::ColumnFit(QAbstractItemView& view, QHeaderView& header, int stretch, double least)
    : QObject(&view)
    , m_view(view)
    , m_header(header)
    , m_stretch(stretch)
    , m_least(least)
{
    header.setStretchLastSection(false);
    header.setMinimumSectionSize(px(20));
    view.viewport()->installEventFilter(this);
}

void ColumnFit::setColumns(std::vector<int> shown, std::vector<int> dispensable)
{
    m_shown = std::move(shown);
    m_dispensable = std::move(dispensable);
    fit();
}

/// Returns the width of a header; with word wrap, that of its widest word.
int ColumnFit::headWidth(int column) const
{
    const auto head
        = [&](int role) { return m_view.model()->headerData(column, Qt::Horizontal, role); };
    if (!(head(Qt::TextAlignmentRole).toInt() & Qt::TextWordWrap))
        return m_header.sectionSizeHint(column);
    int widest = 0;
    for (const QString& word : head(Qt::DisplayRole).toString().split(QLatin1Char(' ')))
        widest = std::max(widest, QFontMetrics(m_header.font()).horizontalAdvance(word));
    return widest + px(14);
}

int ColumnFit::wantedWidth(int column) const
{
    const auto& sized = static_cast<const QAbstractItemView&>(m_view);
    const int cells = sized.sizeHintForColumn(column) + px(10);
    const int head = headWidth(column);
    return std::max({head, std::min(cells, px(kWidest)), m_header.minimumSectionSize()});
}

void ColumnFit::fit()
{
    if (!m_view.model())
        return;
    const int room = m_view.viewport()->width();
    std::vector<int> widths(std::size_t(m_view.model()->columnCount()), -1);
    int taken = 0;
    for (const int column : m_shown)
        if (std::size_t(column) < widths.size()) {
            int& width = widths[std::size_t(column)];
            width = column == m_stretch ? px(m_least) : wantedWidth(column);
            taken += width;
        }
    for (const int column : m_dispensable)
        if (taken > room && std::size_t(column) < widths.size()) {
            taken -= std::max(0, std::exchange(widths[std::size_t(column)], -1));
        }
    for (int column = 0; column < int(widths.size()); ++column) {
        const int width = widths[std::size_t(column)];
        m_header.setSectionHidden(column, width < 0);
        if (width >= 0)
            m_header.resizeSection(
                column,
                column == m_stretch ? std::max(width + room - taken, px(kNarrowest)) : width);
    }
}

bool ColumnFit::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::Resize)
        fit();
    return QObject::eventFilter(watched, event);
}

} // namespace qs

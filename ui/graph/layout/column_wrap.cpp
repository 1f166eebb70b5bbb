// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/column_wrap.h"

#include <QRectF>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qs {

namespace {

/// A view has about 1,000 pixels in height: more rows would get less than two pixels each.
constexpr std::size_t kMostRows = 500;
constexpr double kGap = 72; ///< between columns
constexpr double kBelow = 9; ///< distance of a line's bend from its node

class ColumnWrap
{
public:
    ColumnWrap(const LevelGraph& level, LevelPlacement& placement)
        : m_level(level)
        , m_placement(placement)
    {
        for (std::size_t i = 0; i < level.items.size(); ++i) {
            QRectF rect(QPointF(0, 0), level.items[i].size);
            rect.moveCenter(placement.centers[i]);
            m_rects.push_back(rect);
        }
    }

    void wrap()
    {
        findRows();
        if (m_rows.size() <= kMostRows)
            return;
        breakRows();
        if (m_columns.size() < 2)
            return;
        placeColumns();
        for (std::size_t e = 0; e < m_level.edges.size(); ++e)
            route(e);
        for (std::size_t i = 0; i < m_rects.size(); ++i)
            m_placement.centers[i] += m_columns[m_columnOf[i]].shift;
    }

private:
    /// Items between two horizontal lines that no item crosses.
    struct Row
    {
        double top = 0, bottom = 0;
        std::vector<std::size_t> items;
    };
    struct Column
    {
        double top = 0, left = 0, right = 0; ///< before the shift
        QPointF shift;
        double end = 0; ///< right side after the shift
    };

    void findRows()
    {
        std::vector<std::size_t> order(m_rects.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
            return m_rects[a].top() < m_rects[b].top();
        });
        for (const std::size_t item : order) {
            const QRectF& rect = m_rects[item];
            if (m_rows.empty() || rect.top() >= m_rows.back().bottom)
                m_rows.push_back({rect.top(), rect.bottom(), {}});
            m_rows.back().bottom = std::max(m_rows.back().bottom, rect.bottom());
            m_rows.back().items.push_back(item);
        }
    }

    /// Breaks the rows into columns, so high that all columns together have the shape of a view.
    void breakRows()
    {
        double left = m_rects.front().left(), right = m_rects.front().right();
        for (const QRectF& rect : m_rects) {
            left = std::min(left, rect.left());
            right = std::max(right, rect.right());
        }
        const double length = m_rows.back().bottom - m_rows.front().top;
        const double count = std::sqrt(m_level.viewShape * length / (right - left + kGap));
        const double height = length / std::max(1.0, std::floor(count));
        m_columnOf.assign(m_rects.size(), 0);
        for (const Row& row : m_rows) {
            if (m_columns.empty() || row.bottom - m_columns.back().top > height)
                m_columns.push_back({row.top,
                                     m_rects[row.items.front()].left(),
                                     m_rects[row.items.front()].right(),
                                     {},
                                     0});
            Column& column = m_columns.back();
            for (const std::size_t item : row.items) {
                m_columnOf[item] = m_columns.size() - 1;
                column.left = std::min(column.left, m_rects[item].left());
                column.right = std::max(column.right, m_rects[item].right());
            }
        }
        for (std::size_t e = 0; e < m_level.edges.size(); ++e)
            if (const std::size_t at = columnOfBoth(e); at < m_columns.size())
                for (const QPointF& bend : m_placement.bends[e]) {
                    m_columns[at].left = std::min(m_columns[at].left, bend.x());
                    m_columns[at].right = std::max(m_columns[at].right, bend.x());
                }
    }

    /// Returns the column of an edge within one column, else the number of columns.
    std::size_t columnOfBoth(std::size_t edge) const
    {
        const auto [from, to] = endsOf(edge);
        return m_columnOf[from] == m_columnOf[to] ? m_columnOf[from] : m_columns.size();
    }

    std::pair<std::size_t, std::size_t> endsOf(std::size_t edge) const
    {
        return {std::size_t(m_level.edges[edge].from), std::size_t(m_level.edges[edge].to)};
    }

    void placeColumns()
    {
        double x = 0;
        for (Column& column : m_columns) {
            column.shift = QPointF(x - column.left, -column.top);
            x += column.right - column.left;
            column.end = x;
            x += kGap;
        }
    }

    /// Routes an edge between columns: below its source into the gap, above all columns if other
    /// columns lie between, then to the reader from above.
    void route(std::size_t edge)
    {
        auto& bends = m_placement.bends[edge];
        if (const std::size_t at = columnOfBoth(edge); at < m_columns.size()) {
            for (QPointF& bend : bends)
                bend += m_columns[at].shift;
            return;
        }
        const auto [from, to] = endsOf(edge);
        const std::size_t first = m_columnOf[from], last = m_columnOf[to];
        const QRectF source = m_rects[from].translated(m_columns[first].shift);
        const QRectF target = m_rects[to].translated(m_columns[last].shift);
        const double leaves = m_columns[first].end + kGap / 2;
        const double enters = last == 0 ? -kGap / 2 : m_columns[last - 1].end + kGap / 2;
        const double below = source.bottom() + kBelow, above = target.top() - kBelow;
        bends = {{source.center().x(), below}, {leaves, below}};
        if (leaves != enters) {
            bends.emplace_back(leaves, -kGap / 2);
            bends.emplace_back(enters, -kGap / 2);
        }
        bends.emplace_back(enters, above);
        bends.emplace_back(target.center().x(), above);
    }

    const LevelGraph& m_level;
    LevelPlacement& m_placement;
    std::vector<QRectF> m_rects; ///< of the items, before wrapping
    std::vector<Row> m_rows;
    std::vector<Column> m_columns;
    std::vector<std::size_t> m_columnOf; ///< by item
};

} // namespace

void wrapIntoColumns(const LevelGraph& level, LevelPlacement& placement)
{
    if (level.items.size() > kMostRows)
        ColumnWrap(level, placement).wrap();
}

} // namespace qs

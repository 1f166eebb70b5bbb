// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHash>
#include <QRectF>

#include <algorithm>
#include <cmath>
#include <vector>

namespace qs {

/// Finds the rectangles of a large flat array that touch a region: a uniform grid of cells with
/// indices. Built once per layout.
class SpatialGrid
{
public:
    void clear()
    {
        m_cells.clear();
        m_count = 0;
    }
    void add(int index, const QRectF& rect)
    {
        forCells(rect, [&](qint64 key) { m_cells[key].push_back(index); });
        m_count = std::max(m_count, index + 1);
    }
    /// Indices in rising order, each once.
    std::vector<int> find(const QRectF& region) const
    {
        std::vector<char> seen(std::size_t(m_count), 0);
        forCells(region, [&](qint64 key) {
            const auto it = m_cells.constFind(key);
            if (it != m_cells.constEnd())
                for (int index : *it)
                    seen[std::size_t(index)] = 1;
        });
        std::vector<int> out;
        for (int i = 0; i < m_count; ++i)
            if (seen[std::size_t(i)])
                out.push_back(i);
        return out;
    }

private:
    static constexpr double kCell = 512;

    template<class Visit>
    static void forCells(const QRectF& rect, Visit&& visit)
    {
        const auto cell = [](double v) { return qint64(std::floor(v / kCell)); };
        for (qint64 x = cell(rect.left()); x <= cell(rect.right()); ++x)
            for (qint64 y = cell(rect.top()); y <= cell(rect.bottom()); ++y)
                visit((x << 32) ^ (y & 0xffffffff));
    }

    QHash<qint64, std::vector<int>> m_cells;
    int m_count = 0;
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace qs {

/// Finds the rectangles of a large flat array that touch a region: a uniform grid of cells, each
/// with the indices in it, kept as two flat arrays. Built once per layout; any thread reads it.
class SpatialGrid
{
public:
    /// `visit(emit)` calls `emit(index, rect)` for each part of each of `count` things. It is
    /// called twice and must emit the same both times.
    template<class Visit>
    void build(const QRectF& bounds, std::size_t count, Visit&& visit)
    {
        m_bounds = bounds;
        m_count = int(count);
        m_cell = kSmallestCell;
        while (columnsAt(m_cell) * rowsAt(m_cell) > double(4 * count + 64))
            m_cell *= 2;
        m_columns = int(columnsAt(m_cell));
        m_rows = int(rowsAt(m_cell));
        m_begin.assign(std::size_t(m_columns) * std::size_t(m_rows) + 1, 0);
        visit([this](int, const QRectF& rect) {
            forCells(rect, [this](std::size_t cell) { ++m_begin[cell + 1]; });
        });
        for (std::size_t i = 1; i < m_begin.size(); ++i)
            m_begin[i] += m_begin[i - 1];
        m_indices.resize(m_begin.back());
        auto at = m_begin;
        visit([this, &at](int index, const QRectF& rect) {
            forCells(rect, [&](std::size_t cell) { m_indices[at[cell]++] = index; });
        });
    }

    /// Indices in rising order, each once.
    std::vector<int> find(const QRectF& region) const
    {
        std::vector<int> out;
        if (m_count == 0 || !region.intersects(m_bounds.adjusted(-1, -1, 1, 1)))
            return out;
        std::vector<char> seen(std::size_t(m_count), 0);
        int first = m_count, last = -1;
        forCells(region, [&](std::size_t cell) {
            for (auto i = m_begin[cell]; i < m_begin[cell + 1]; ++i) {
                const int index = m_indices[i];
                seen[std::size_t(index)] = 1;
                first = std::min(first, index);
                last = std::max(last, index);
            }
        });
        for (int i = first; i <= last; ++i)
            if (seen[std::size_t(i)])
                out.push_back(i);
        return out;
    }

private:
    static constexpr double kSmallestCell = 256;

    double columnsAt(double cell) const { return std::floor(m_bounds.width() / cell) + 1; }
    double rowsAt(double cell) const { return std::floor(m_bounds.height() / cell) + 1; }

    template<class Visit>
    void forCells(const QRectF& rect, Visit&& visit) const
    {
        const auto column = [this](double x) {
            return std::clamp(int((x - m_bounds.left()) / m_cell), 0, m_columns - 1);
        };
        const auto row = [this](double y) {
            return std::clamp(int((y - m_bounds.top()) / m_cell), 0, m_rows - 1);
        };
        const int left = column(rect.left()), right = column(rect.right());
        const int bottom = row(rect.bottom());
        for (int y = row(rect.top()); y <= bottom; ++y)
            for (int x = left; x <= right; ++x)
                visit(std::size_t(y) * std::size_t(m_columns) + std::size_t(x));
    }

    QRectF m_bounds;
    double m_cell = kSmallestCell;
    int m_columns = 0, m_rows = 0, m_count = 0;
    std::vector<std::uint32_t> m_begin; ///< start of each cell's indices; and the end
    std::vector<std::int32_t> m_indices;
};

} // namespace qs

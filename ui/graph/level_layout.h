// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>
#include <QSizeF>

#include <vector>

namespace qs {

/// One flat graph to lay out in layers from top to bottom.
struct LevelGraph
{
    enum class Place
    {
        Free,
        Top, ///< in the first layer
        Bottom ///< in the last layer
    };
    struct Item
    {
        QSizeF size;
        Place place = Place::Free;
    };
    struct Edge
    {
        int from = 0;
        int to = 0;
    };
    std::vector<Item> items;
    std::vector<Edge> edges;
};

struct LevelPlacement
{
    std::vector<QPointF> centers; ///< one per item
    std::vector<std::vector<QPointF>> bends; ///< one list per edge, from source to target
};

/// Sugiyama layout by OGDF: longest-path ranking, barycenter heuristic, fast hierarchy layout. Safe
/// on any thread; gives OGDF's memory of that thread back before it returns.
LevelPlacement layoutLevel(const LevelGraph& level);

} // namespace qs

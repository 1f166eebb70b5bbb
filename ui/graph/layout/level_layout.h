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
    double layerDistance = 28;
    double viewShape = 1.6; ///< width to height, for breaking a very long level
};

struct LevelPlacement
{
    std::vector<QPointF> centers; ///< one per item
    std::vector<std::vector<QPointF>> bends; ///< one list per edge, from source to target
};

enum class LayoutQuality
{
    Coarse, ///< layers in the order of the graph, straight edges: linear time
    Fine
};

/// Sugiyama layout by OGDF: longest-path ranking, barycenter heuristic, fast hierarchy layout. A
/// level so dense that this would take seconds is always placed coarsely; a level of more than 500
/// rows is broken into columns. Thread: any; frees OGDF's memory of that thread before it returns.
/// The only user of OGDF.
LevelPlacement layoutLevel(const LevelGraph& level, LayoutQuality quality = LayoutQuality::Fine);

} // namespace qs

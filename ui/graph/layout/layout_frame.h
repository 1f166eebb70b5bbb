// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/layout/level_layout.h"
#include "ui/graph/view/graph_drawing.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace qs {

/// The place where a value enters or leaves an expanded module.
struct Port
{
    int entry = -1; ///< the drawn producer whose values pass through
    bool out = false;
    int item = -1; ///< its item in the level of its module
};

/// A stretch of an edge between two items of one expanded module.
struct LocalEdge
{
    int fromItem, fromPort, toItem, toPort; ///< ports are indices into the child level's `ports`
    DrawnEdge drawn;
};

/// One expanded module while it is laid out.
struct Level
{
    int entry = -1;
    int depth = 0;
    std::vector<int> children; ///< entries, one item each, before the ports
    std::map<int, int> itemOf;
    std::vector<Port> ports;
    std::map<std::pair<int, bool>, int> portOf;
    std::vector<LocalEdge> edges;
    std::map<std::tuple<int, int, int, int>, int> edgeOf;
    LevelPlacement placement;
    std::vector<float> heights; ///< of the children as drawn
    QSizeF size;
    QPointF shift; ///< from the placement's coordinates to the frame's

    /// The number of ports on a side. A single port is placed in the middle.
    auto portCount(bool out) const
    {
        return std::count_if(ports.begin(), ports.end(),
                             [out](const Port& port) { return port.out == out; });
    }
};

} // namespace qs

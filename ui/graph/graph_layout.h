// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/job_context.h"
#include "ui/graph/fold_tree.h"

#include <QPointF>
#include <QRectF>

#include <memory>
#include <set>
#include <vector>

namespace qs {

/// Sizes of what is drawn, in scene units (pixels at 100 %).
inline constexpr double kNodeHeight = 40;
inline constexpr double kBoxHeader = 30;
inline constexpr double kBoxPadding = 18;

struct DrawnNode
{
    int entry = -1;
    QRectF rect;
};

/// An expanded module, drawn as a frame around its children.
struct DrawnBox
{
    int entry = -1;
    int depth = 0;
    QRectF rect;
};

/// One stretch of an edge inside one module. An edge that crosses frames is several of them, joined
/// at the frames.
struct DrawnEdge
{
    ValueRef value;
    int fromEntry = -1; ///< the drawn producer of the value
    int toEntry
        = -1; ///< the drawn reader where this stretch ends, or the frame it enters or leaves
    bool arrow = true; ///< ends at a node or at a frame's upper side
    bool labelled = false; ///< the first stretch of its value: carries the shape
    std::vector<QPointF> points;
};

/// A value with so many readers that its edges would hide the rest: shown by name at the reader.
struct DrawnReference
{
    ValueRef value;
    int toEntry = -1;
};

/// A finished layout. Immutable; any thread.
struct GraphDrawing
{
    GraphPtr graph;
    FoldTreePtr tree;
    std::set<int> expanded;
    std::vector<DrawnNode> nodes;
    std::vector<DrawnBox> boxes; ///< outer frames before inner ones
    std::vector<DrawnEdge> edges;
    std::vector<DrawnReference> references;
    QRectF bounds;
    std::unordered_map<int, int> nodeOfEntry; ///< entry to index in `nodes`
    std::unordered_map<int, int> boxOfEntry;
};
using GraphDrawingPtr = std::shared_ptr<const GraphDrawing>;

/// Lays out each expanded module alone, innermost first, and then its parent with the module as one
/// large node. Runs on a pool thread; stops between modules on a cancel. The only user of OGDF.
Result<GraphDrawingPtr> layoutGraph(const GraphPtr& graph, const FoldTreePtr& tree,
                                    const std::set<int>& expanded, const JobContext& job = {});

/// The modules to open at first: breadth first, as long as at most `budget` things are drawn.
std::set<int> initialExpansion(const FoldTree& tree, int budget);

} // namespace qs

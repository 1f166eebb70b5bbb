// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/layout/spatial_grid.h"
#include "ui/session/fold_tree.h"

#include <QPainterPath>
#include <QPointF>
#include <QRectF>

#include <array>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace qs {

/// Sizes of drawn items, in scene units (pixels at 100 %).
inline constexpr double kNodeHeight = 40;
/// Height of a node with a third line: the parameters and literals inside.
inline constexpr double kTallNodeHeight = 54;
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

/// A stretch: the part of an edge inside one module. An edge that crosses frames has several
/// stretches, joined at the frames.
struct DrawnEdge
{
    ValueRef value;
    int fromEntry = -1; ///< the drawn producer of the value
    int toEntry
        = -1; ///< the drawn reader where this stretch ends, or the frame it enters or leaves
    int firstPoint = 0; ///< in `GraphDrawing::points`
    int pointCount = 0; ///< at least two
    bool arrow = true; ///< ends at a node or at a frame's upper side
    bool labelled = false; ///< the first stretch of its value: carries the shape
    bool shapeOnly = false; ///< carries only sizes and other symbolic numbers
};

/// A value with too many readers for drawing all edges: shown by name at this reader.
struct DrawnReference
{
    ValueRef value;
    int node = -1; ///< index of the reader in `GraphDrawing::nodes`
};

/// The direction of a drawing.
enum class Flow
{
    Down,
    Right
};

/// Appends the curve from `from` to `to`, which leaves and arrives along the flow.
void addStretch(QPainterPath& path, const QPointF& from, const QPointF& to, Flow flow);
/// Returns the corners of an arrow head that ends at `tip`.
std::array<QPointF, 3> arrowHead(const QPointF& tip, double halfWidth, double length, Flow flow);

/// A finished layout in flat arrays. Immutable; any thread.
struct GraphDrawing
{
    GraphPtr graph;
    FoldTreePtr tree;
    std::set<int> expanded;
    std::vector<DrawnNode> nodes;
    std::vector<DrawnBox> boxes; ///< outer frames before inner ones
    std::vector<DrawnEdge> edges;
    std::vector<QPointF> points;
    std::vector<DrawnReference> references; ///< by reader
    QRectF bounds;
    Flow flow = Flow::Down;
    std::vector<int> nodeOfEntry, boxOfEntry; ///< index in `nodes` and `boxes` by entry; -1
    SpatialGrid nodeGrid, edgeGrid, boxGrid;

    std::span<const QPointF> pointsOf(const DrawnEdge& edge) const
    {
        return {points.data() + edge.firstPoint, std::size_t(edge.pointCount)};
    }
    /// The line of a stretch as it is painted.
    QPainterPath pathOf(const DrawnEdge& edge) const;
    /// Position of a stretch's label: the left end of its baseline, or the right end if
    /// `endsThere`. `otherSide`: on the other side of the line.
    struct LabelPlace
    {
        QPointF at;
        bool endsThere = false;
    };
    LabelPlace labelPlace(const DrawnEdge& edge, bool otherSide = false) const;
    /// The stretch nearest to a point, no further away than `reach`; -1 without one.
    int edgeAt(const QPointF& at, double reach) const;
    /// The values that are shown by name at a node.
    std::span<const DrawnReference> referencesOf(int node) const;
    /// The node that shows an entry: itself or the outermost folded module around it; -1 for an
    /// open module.
    int nodeShowing(int entry) const;
    /// The rectangle of an entry: its node, its frame, or the folded module around it.
    QRectF rectOf(int entry) const;
    /// Turns the drawing, so that a downward flow runs to the right.
    void turn();
    /// Sorts the references, fills the grids and the indices. Called once by the layout.
    void finish();
};
using GraphDrawingPtr = std::shared_ptr<const GraphDrawing>;

} // namespace qs

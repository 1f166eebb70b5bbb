// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/rules/edge_rules.h"
#include "ui/graph/view/graph_drawing.h"
#include "ui/graph/view/graph_scene.h"

#include <optional>

namespace qs {

/// Maps edges of the float graph to the stretches drawn for them in a form of the model, and back.
/// Borrows its arguments; `tree` is that of the float model.
class EdgeMarks
{
public:
    EdgeMarks(const GraphDrawing& drawing, const Graph& model, const FoldTree& tree)
        : m_drawing(drawing)
        , m_model(model)
        , m_tree(tree)
        , m_float(drawing.graph.get() == &model)
    {
    }

    /// The float edge that a stretch belongs to; with several readers, that of the first.
    std::optional<Edge> edgeOf(int stretch) const;
    /// The float edge of the first value that a node shows by name.
    std::optional<Edge> namedEdgeOf(int node) const;
    /// The float edge of an entry that conversion added to it: an observer, a quantize or
    /// dequantize.
    std::optional<Edge> edgeUnder(int entry) const;
    /// The drawn stretches of the edge, and of the edges that share its observer.
    GraphScene::LitEdges lit(const Edge& edge, const std::vector<ObservedEdge>& partners) const;

private:
    std::optional<Edge> floatEdge(ValueRef value, NodeId reader) const;
    bool standsOnEdge(const Node& node) const;
    bool leaves(const DrawnEdge& stretch) const;
    bool belongs(const DrawnEdge& stretch, ValueRef value, NodeId reader) const;
    NodeId floatOf(NodeId id) const;
    bool sameUnit(NodeId a, NodeId b) const;

    const GraphDrawing& m_drawing;
    const Graph& m_model;
    const FoldTree& m_tree;
    bool m_float; ///< the drawing is that of the float model
};

} // namespace qs

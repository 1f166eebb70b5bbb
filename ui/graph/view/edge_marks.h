// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/rules/edge_rules.h"
#include "ui/graph/view/graph_drawing.h"
#include "ui/graph/view/graph_scene.h"

#include <optional>

namespace qs {

/// Takes edges of the float graph to the stretches that are drawn for them in a form of the model,
/// and back. Borrows all; `tree` is that of the float model.
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

    /// The float edge that a stretch belongs to: of several readers after it, the first.
    std::optional<Edge> edgeOf(int stretch) const;
    /// The edge through which a node reads what it shows by name: the first.
    std::optional<Edge> namedEdgeOf(int node) const;
    /// The edge of an entry that only conversion added: an observer, a quantize or
    /// dequantize.
    std::optional<Edge> edgeUnder(int entry) const;
    /// The drawn stretches of the edge, and of the places that share its observer.
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

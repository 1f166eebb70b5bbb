// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/edge_marks.h"

#include "engine/graph/operators/quantized_target.h"
#include "ui/graph/style/graph_style.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

NodeId EdgeMarks::floatOf(NodeId id) const
{
    return m_float ? id : floatNodeOf(*m_drawing.graph, &m_model, id);
}

bool EdgeMarks::sameUnit(NodeId a, NodeId b) const
{
    return a && b && (a == b || (m_tree.unitOf(a) >= 0 && m_tree.unitOf(a) == m_tree.unitOf(b)));
}

/// True if the stretch leaves a module around the value's producer.
bool EdgeMarks::leaves(const DrawnEdge& stretch) const
{
    const int maker = m_drawing.tree->unitOf(stretch.value.node);
    return maker >= 0 && m_drawing.tree->isWithin(maker, stretch.toEntry);
}

/// Returns the float edge for a value and a reader in this form. Follows the readers of observers,
/// quantize and dequantize nodes.
std::optional<Edge> EdgeMarks::floatEdge(ValueRef value, NodeId reader) const
{
    const Graph& graph = *m_drawing.graph;
    const NodeId maker = floatOf(value.node);
    std::vector<NodeId> open {reader};
    std::unordered_set<NodeId> seen {reader};
    for (std::size_t i = 0; i < open.size(); ++i) {
        const NodeId found = floatOf(open[i]);
        const Node* node = found && !sameUnit(found, maker) ? m_model.tryGet(found) : nullptr;
        std::optional<Edge> edge;
        for (std::uint32_t a = 0; node && a < node->args.size(); ++a)
            forEachRef(node->args[a].value, [&](ValueRef ref) {
                if (!edge && (m_float ? ref == value : sameUnit(ref.node, maker)))
                    edge = Edge {ref, {found, a}};
            });
        if (edge)
            return edge;
        const Node& passed = graph.get(open[i]);
        for (std::uint32_t o = 0; !m_float && o < passed.outputs.size(); ++o)
            for (const Use& use : graph.users({passed.id, o}))
                if (seen.insert(use.node).second)
                    open.push_back(use.node);
    }
    return std::nullopt;
}

std::optional<Edge> EdgeMarks::edgeOf(int index) const
{
    const DrawnEdge& stretch = m_drawing.edges[std::size_t(index)];
    const bool out = leaves(stretch);
    for (const Use& use : m_drawing.graph->users(stretch.value)) {
        const int unit = m_drawing.tree->unitOf(use.node);
        if (unit >= 0 && m_drawing.tree->isWithin(unit, stretch.toEntry) != out)
            if (const auto edge = floatEdge(stretch.value, use.node))
                return edge;
    }
    return std::nullopt;
}

bool EdgeMarks::standsOnEdge(const Node& node) const
{
    const Node* own = m_model.tryGet(node.id); // a user may have quantized by hand
    return (node.observer || isReferenceStep(node.target)) && !(own && own->target == node.target);
}

std::optional<Edge> EdgeMarks::edgeUnder(int entry) const
{
    const auto& members = m_drawing.tree->entry(entry).members;
    std::optional<Edge> edge;
    for (const NodeId id : m_float ? std::span<const NodeId>() : members) {
        const Node& node = m_drawing.graph->get(id);
        if (!standsOnEdge(node))
            return std::nullopt;
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (!edge)
                    edge = floatEdge(ref, id);
            });
    }
    return edge;
}

std::optional<Edge> EdgeMarks::namedEdgeOf(int node) const
{
    const int entry = m_drawing.nodes[std::size_t(node)].entry;
    for (const DrawnReference& reference : m_drawing.referencesOf(node))
        for (const Use& use : m_drawing.graph->users(reference.value))
            if (const int unit = m_drawing.tree->unitOf(use.node);
                unit >= 0 && m_drawing.tree->isWithin(unit, entry))
                if (const auto edge = floatEdge(reference.value, use.node))
                    return edge;
    return std::nullopt;
}

/// True if the stretch carries the value to the reader; without a reader, to any.
bool EdgeMarks::belongs(const DrawnEdge& stretch, ValueRef value, NodeId reader) const
{
    if (m_float ? !(stretch.value == value) : !sameUnit(floatOf(stretch.value.node), value.node))
        return false;
    if (!reader)
        return true;
    const FoldTree& tree = *m_drawing.tree;
    if (m_float) {
        const int unit = tree.unitOf(reader);
        return unit >= 0 && tree.isWithin(unit, stretch.toEntry) != leaves(stretch);
    }
    if (leaves(stretch))
        return true;
    for (const NodeId id : tree.nodesOf(stretch.toEntry))
        if (const NodeId found = floatOf(id); sameUnit(found, reader)
            || (!tree.entry(stretch.toEntry).isModule() && sameUnit(found, value.node)))
            return true;
    return false;
}

GraphScene::LitEdges EdgeMarks::lit(const Edge& edge,
                                    const std::vector<ObservedEdge>& partners) const
{
    GraphScene::LitEdges out;
    for (std::size_t i = 0; i < m_drawing.edges.size(); ++i) {
        const DrawnEdge& stretch = m_drawing.edges[i];
        if (belongs(stretch, edge.value, edge.reader.node)) {
            out.chosen.push_back(int(i));
            continue;
        }
        const bool shared
            = std::any_of(partners.begin(), partners.end(), [&](const ObservedEdge& partner) {
                  return partner.readers.empty()
                      ? belongs(stretch, partner.value, {})
                      : std::any_of(partner.readers.begin(), partner.readers.end(),
                                    [&](const Use& use) {
                                        return belongs(stretch, partner.value, use.node);
                                    });
              });
        if (shared)
            out.partners.push_back(int(i));
    }
    if (!m_float)
        return out;
    const auto mark = [&](NodeId node) {
        const int unit = m_tree.unitOf(node);
        if (unit >= 0 && std::find(out.makers.begin(), out.makers.end(), unit) == out.makers.end())
            out.makers.push_back(unit);
    };
    for (const ObservedEdge& partner : partners)
        mark(partner.value.node);
    if (out.chosen.empty()) { // a reference by name, or inside a folded module
        mark(edge.value.node);
        mark(edge.reader.node);
    }
    return out;
}

} // namespace qs

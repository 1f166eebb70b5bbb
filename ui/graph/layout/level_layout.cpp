// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/level_layout.h"

#include "ui/graph/layout/column_wrap.h"

#include <algorithm>
#include <numeric>
#include <ogdf/basic/Graph.h>
#include <ogdf/basic/GraphAttributes.h>
#include <ogdf/layered/BarycenterHeuristic.h>
#include <ogdf/layered/FastHierarchyLayout.h>
#include <ogdf/layered/LongestPathRanking.h>
#include <ogdf/layered/SugiyamaLayout.h>

namespace qs {

namespace {

constexpr double kItemDistance = 34;
/// OGDF needs about half a second on one core for this many dummy nodes.
constexpr std::size_t kMostDummies = 12000;

void chain(const LevelGraph& level, LevelPlacement& out)
{
    double y = 0;
    for (std::size_t i = 0; i < level.items.size(); ++i) {
        const double height = level.items[i].size.height();
        out.centers[i] = QPointF(0, y + height / 2);
        y += height + level.layerDistance;
    }
}

void sugiyama(const LevelGraph& level, LevelPlacement& out)
{
    ogdf::Graph graph;
    ogdf::GraphAttributes attributes(
        graph, ogdf::GraphAttributes::nodeGraphics | ogdf::GraphAttributes::edgeGraphics);
    std::vector<ogdf::node> nodes;
    std::vector<ogdf::edge> edges;
    for (const auto& item : level.items) {
        auto node = graph.newNode();
        attributes.width(node) = item.size.width();
        attributes.height(node) = item.size.height();
        nodes.push_back(node);
    }
    for (const auto& edge : level.edges)
        edges.push_back(graph.newEdge(nodes[std::size_t(edge.from)], nodes[std::size_t(edge.to)]));

    ogdf::NodeArray<int> rank(graph, 0);
    ogdf::LongestPathRanking ranking;
    ranking.separateMultiEdges(false);
    ranking.call(graph, rank);
    int first = 0, last = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const bool top = level.items[i].place == LevelGraph::Place::Top;
        const bool bottom = level.items[i].place == LevelGraph::Place::Bottom;
        first = std::min(first, rank[nodes[i]] - (top || bottom ? 0 : 1));
        last = std::max(last, rank[nodes[i]] + (top || bottom ? 0 : 1));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (level.items[i].place == LevelGraph::Place::Top)
            rank[nodes[i]] = first;
        else if (level.items[i].place == LevelGraph::Place::Bottom)
            rank[nodes[i]] = last;
    }
    int lowest = rank[nodes.front()];
    for (auto node : nodes)
        lowest = std::min(lowest, rank[node]);
    for (auto node : nodes)
        rank[node] -= lowest;

    ogdf::SugiyamaLayout layout;
    layout.setCrossMin(new ogdf::BarycenterHeuristic);
    auto* hierarchy = new ogdf::FastHierarchyLayout;
    hierarchy->layerDistance(level.layerDistance);
    hierarchy->nodeDistance(kItemDistance);
    hierarchy->fixedLayerDistance(true);
    layout.setLayout(hierarchy);
    layout.runs(1);
    layout.arrangeCCs(false);
    layout.call(attributes, rank);

    for (std::size_t i = 0; i < nodes.size(); ++i)
        out.centers[i] = QPointF(attributes.x(nodes[i]), attributes.y(nodes[i]));
    for (std::size_t i = 0; i < edges.size(); ++i) {
        for (const auto& point : attributes.bends(edges[i]))
            out.bends[i].emplace_back(point.m_x, point.m_y);
    }
}

/// Returns the layer of each item by longest path from the sources; ports in the outer layers.
std::vector<int> layersOf(const LevelGraph& level)
{
    std::vector<int> layer(level.items.size(), 0), waiting(level.items.size(), 0);
    std::vector<std::vector<int>> next(level.items.size());
    for (const auto& edge : level.edges) {
        next[std::size_t(edge.from)].push_back(edge.to);
        ++waiting[std::size_t(edge.to)];
    }
    std::vector<int> ready;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        if (waiting[i] == 0)
            ready.push_back(int(i));
        if (level.items[i].place == LevelGraph::Place::Free)
            layer[i] = 1;
    }
    int last = 0;
    for (std::size_t i = 0; i < ready.size(); ++i) {
        const auto at = std::size_t(ready[i]);
        last = std::max(last, layer[at]);
        for (const int to : next[at]) {
            layer[std::size_t(to)] = std::max(layer[std::size_t(to)], layer[at] + 1);
            if (--waiting[std::size_t(to)] == 0)
                ready.push_back(to);
        }
    }
    for (std::size_t i = 0; i < layer.size(); ++i)
        if (level.items[i].place == LevelGraph::Place::Bottom)
            layer[i] = last + 1;
    return layer;
}

void coarse(const LevelGraph& level, LevelPlacement& out)
{
    const std::vector<int> layer = layersOf(level);
    std::vector<std::size_t> order(level.items.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return layer[a] < layer[b]; });
    double y = 0;
    for (std::size_t begin = 0; begin < order.size();) {
        std::size_t end = begin;
        double width = -kItemDistance, height = 0;
        for (; end < order.size() && layer[order[end]] == layer[order[begin]]; ++end) {
            width += level.items[order[end]].size.width() + kItemDistance;
            height = std::max(height, level.items[order[end]].size.height());
        }
        double x = -width / 2;
        for (; begin < end; ++begin) {
            const QSizeF size = level.items[order[begin]].size;
            out.centers[order[begin]] = QPointF(x + size.width() / 2, y + height / 2);
            x += size.width() + kItemDistance;
        }
        y += height + level.layerDistance;
    }
}

/// True if edges cross so many layers that OGDF would be slow: it adds a dummy node at each
/// crossing, and its time grows faster than their number.
bool isTooDense(const LevelGraph& level)
{
    const std::vector<int> layer = layersOf(level);
    std::size_t dummies = 0;
    for (const auto& edge : level.edges)
        dummies += std::size_t(
            std::max(0, layer[std::size_t(edge.to)] - layer[std::size_t(edge.from)] - 1));
    return dummies > kMostDummies;
}

bool isChain(const LevelGraph& level)
{
    if (level.edges.size() + 1 != level.items.size())
        return false;
    for (std::size_t i = 0; i < level.edges.size(); ++i)
        if (level.edges[i].from != int(i) || level.edges[i].to != int(i) + 1)
            return false;
    return true;
}

} // namespace

LevelPlacement layoutLevel(const LevelGraph& level, LayoutQuality quality)
{
    LevelPlacement out;
    out.centers.resize(level.items.size());
    out.bends.resize(level.edges.size());
    if (level.items.empty())
        return out;
    if (isChain(level)) {
        chain(level, out);
    } else if (quality == LayoutQuality::Coarse || isTooDense(level)) {
        coarse(level, out);
    } else {
        sugiyama(level, out);
        OGDF_ALLOCATOR::flushPool();
    }
    wrapIntoColumns(level, out);
    return out;
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/graph_layout.h"

#include "ui/graph/layout/layout_frame.h"
#include "ui/graph/layout/node_size.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace qs {

namespace {

/// A value with more drawn readers than this is shown by name instead of by lines.
constexpr std::size_t kHubReaders = 7;
/// Distance of layers in a graph that runs to the right: room for an edge's label.
constexpr double kSidewaysDistance = 84;

class LayoutRun
{
public:
    LayoutRun(const GraphPtr& graph, const FoldTreePtr& tree, const std::set<int>& expanded,
              LayoutQuality quality, Flow flow)
        : m_graph(*graph)
        , m_tree(*tree)
        , m_quality(quality)
        , m_drawing(std::make_shared<GraphDrawing>())
    {
        m_drawing->flow = flow;
        m_drawing->graph = graph;
        m_drawing->tree = tree;
        m_drawing->expanded = expanded;
        m_drawing->expanded.insert(FoldTree::kRoot);
    }

    Result<GraphDrawingPtr> run(const JobContext& job)
    {
        openLevels(FoldTree::kRoot, 0);
        m_drawnFor.assign(m_tree.size(), -1);
        noteDrawn(FoldTree::kRoot, FoldTree::kRoot);
        route();
        for (auto it = m_levels.rbegin(); it != m_levels.rend(); ++it) {
            QS_CHECK(job.check());
            place(*it);
        }
        draw(0, QPointF(0, 0));
        m_drawing->bounds = QRectF(QPointF(0, 0), m_levels.front().size);
        for (const auto& [value, reader] : m_byName)
            m_drawing->references.push_back({value, m_drawnAt.at(reader)});
        if (isSideways())
            m_drawing->turn();
        m_drawing->finish();
        return GraphDrawingPtr(m_drawing);
    }

private:
    /// True if the graph runs to the right. It is then laid out from top to bottom with nodes on
    /// their side, and turned at the end.
    bool isSideways() const { return m_drawing->flow == Flow::Right; }
    QSizeF sizeOf(int entry) const
    {
        const QSizeF size = drawnSize(m_graph, m_tree, entry);
        return isSideways() ? size.transposed() : size;
    }

    bool isOpen(int entry) const { return m_levelOf.count(entry) > 0; }

    void openLevels(int entry, int depth)
    {
        m_levelOf[entry] = int(m_levels.size());
        Level level;
        level.entry = entry;
        level.depth = depth;
        level.children = m_tree.entry(entry).children;
        for (std::size_t i = 0; i < level.children.size(); ++i)
            level.itemOf[level.children[i]] = int(i);
        m_levels.push_back(std::move(level));
        for (int child : m_tree.entry(entry).children)
            if (m_tree.entry(child).isModule() && m_drawing->expanded.count(child))
                openLevels(child, depth + 1);
    }

    /// Records which entry is drawn for this entry and for all inside: itself or the outermost
    /// folded module around it.
    void noteDrawn(int entry, int drawn)
    {
        m_drawnFor[std::size_t(entry)] = drawn;
        const bool open = isOpen(entry);
        for (const int child : m_tree.entry(entry).children)
            noteDrawn(child, open ? child : drawn);
    }

    void route()
    {
        std::map<std::pair<int, int>, std::vector<ValueRef>> read; ///< by producer and reader
        std::map<ValueRef, std::vector<int>> readers;
        for (const auto& node : m_graph.nodes()) {
            const int unit = m_tree.unitOf(node->id);
            if (unit < 0)
                continue;
            const int reader = m_drawnFor[std::size_t(unit)];
            for (const auto& arg : node->args)
                forEachRef(arg.value, [&](ValueRef ref) {
                    const int producer = producerOf(ref.node);
                    if (producer < 0 || producer == reader)
                        return;
                    auto& values = read[{producer, reader}];
                    if (std::find(values.begin(), values.end(), ref) != values.end())
                        return;
                    values.push_back(ref);
                    readers[ref].push_back(reader);
                });
        }
        for (const auto& [ends, values] : read) {
            const int reader = ends.second;
            // One line carries all values between two entries; without a line, each value is
            // referenced by name.
            const auto joined = std::find_if(values.begin(), values.end(), [&](ValueRef value) {
                const auto& all = readers[value];
                return all.size() <= kHubReaders || reader == all.front();
            });
            if (joined != values.end())
                addLine(ends.first, reader, *joined, carriesShapesOnly(values));
            else
                for (const ValueRef value : values)
                    m_byName.emplace_back(value, reader);
        }
    }

    bool carriesShapesOnly(const std::vector<ValueRef>& values) const
    {
        return std::all_of(values.begin(), values.end(), [this](ValueRef value) {
            const ValueKind kind = m_graph.value(value).type.kind;
            return kind == ValueKind::SymInt || kind == ValueKind::SymFloat
                || kind == ValueKind::SymBool;
        });
    }

    int producerOf(NodeId id) const
    {
        const int unit = m_tree.unitOf(id);
        return unit < 0 ? -1 : m_drawnFor[std::size_t(unit)];
    }

    int port(int levelIndex, int producer, bool out)
    {
        auto& level = m_levels[std::size_t(levelIndex)];
        const auto [it, fresh]
            = level.portOf.emplace(std::pair(producer, out), int(level.ports.size()));
        if (fresh)
            level.ports.push_back({producer, out, int(level.children.size() + level.ports.size())});
        return it->second;
    }

    void addLocal(int levelIndex, std::array<int, 4> ends, const DrawnEdge& drawn)
    {
        auto& level = m_levels[std::size_t(levelIndex)];
        const auto key = std::tuple(ends[0], ends[1], ends[2], ends[3]);
        const auto [known, fresh] = level.edgeOf.emplace(key, int(level.edges.size()));
        if (!fresh) {
            auto& there = level.edges[std::size_t(known->second)].drawn;
            there.shapeOnly = there.shapeOnly && drawn.shapeOnly;
            return;
        }
        level.edges.push_back({ends[0], ends[1], ends[2], ends[3], drawn});
    }

    void addLine(int producer, int reader, ValueRef value, bool shapeOnly)
    {
        int common = m_tree.entry(producer).parent;
        while (!m_tree.isWithin(reader, common))
            common = m_tree.entry(common).parent;
        DrawnEdge drawn;
        drawn.value = value;
        drawn.fromEntry = producer;
        drawn.shapeOnly = shapeOnly;
        const bool first = m_labelled.insert(value).second;

        int from = producer, fromPort = -1;
        while (m_tree.entry(from).parent != common) {
            const int frame = m_tree.entry(from).parent;
            const int levelIndex = m_levelOf.at(frame);
            const int exit = port(levelIndex, producer, true);
            const auto& level = m_levels[std::size_t(levelIndex)];
            drawn.toEntry = frame;
            drawn.arrow = false;
            drawn.labelled = false;
            addLocal(levelIndex,
                     {level.itemOf.at(from), fromPort, level.ports[std::size_t(exit)].item, -1},
                     drawn);
            from = frame;
            fromPort = exit;
        }
        std::vector<int> inward;
        for (int entry = reader; m_tree.entry(entry).parent != common;
             entry = m_tree.entry(entry).parent)
            inward.push_back(entry);
        const int to = inward.empty() ? reader : m_tree.entry(inward.back()).parent;
        int toPort = inward.empty() ? -1 : port(m_levelOf.at(to), producer, false);
        {
            const int levelIndex = m_levelOf.at(common);
            const auto& level = m_levels[std::size_t(levelIndex)];
            drawn.toEntry = to;
            drawn.arrow = true;
            drawn.labelled = first;
            addLocal(levelIndex, {level.itemOf.at(from), fromPort, level.itemOf.at(to), toPort},
                     drawn);
        }
        int frame = to;
        for (auto it = inward.rbegin(); it != inward.rend(); ++it) {
            const int levelIndex = m_levelOf.at(frame);
            const bool deeper = std::next(it) != inward.rend();
            const int nextPort = deeper ? port(m_levelOf.at(*it), producer, false) : -1;
            const auto& level = m_levels[std::size_t(levelIndex)];
            drawn.toEntry = *it;
            drawn.labelled = false;
            addLocal(levelIndex,
                     {level.ports[std::size_t(toPort)].item, -1, level.itemOf.at(*it), nextPort},
                     drawn);
            frame = *it;
            toPort = nextPort;
        }
    }

    void place(Level& level)
    {
        LevelGraph graph;
        for (int child : level.children) {
            const auto open = m_levelOf.find(child);
            graph.items.push_back(
                {open == m_levelOf.end() ? sizeOf(child) : m_levels[std::size_t(open->second)].size,
                 LevelGraph::Place::Free});
        }
        for (const auto& port : level.ports)
            graph.items.push_back(
                {QSizeF(12, 1), port.out ? LevelGraph::Place::Bottom : LevelGraph::Place::Top});
        for (const auto& edge : level.edges)
            graph.edges.push_back({edge.fromItem, edge.toItem});
        if (isSideways()) {
            graph.layerDistance = kSidewaysDistance;
            graph.viewShape = 1 / graph.viewShape; // the drawing is turned at the end
        }
        level.placement = layoutLevel(graph, m_quality);
        for (std::size_t i = 0; i < level.children.size(); ++i)
            level.heights.push_back(float(graph.items[i].size.height()));

        QRectF bounds;
        for (std::size_t i = 0; i < graph.items.size(); ++i) {
            QRectF rect(QPointF(0, 0), graph.items[i].size);
            rect.moveCenter(level.placement.centers[i]);
            // Ports are on the frame itself: only their x coordinate counts.
            if (graph.items[i].place != LevelGraph::Place::Free)
                rect = QRectF(rect.left(), bounds.isNull() ? rect.top() : bounds.top(),
                              rect.width(), 1);
            bounds = bounds.isNull() ? rect : bounds.united(rect);
        }
        for (const auto& bends : level.placement.bends)
            for (const auto& bend : bends)
                bounds = bounds.united(QRectF(bend.x() - 6, bend.y(), 12, 0.1));
        const bool root = level.entry == FoldTree::kRoot;
        const double header = root ? 12 : kBoxHeader + 14, padding = kBoxPadding;
        // Keep the title clear of the line that enters in the middle.
        const auto& entry = m_tree.entry(level.entry);
        const double title = double(entry.path.size() + entry.className.size() + 2) * 7 + 32;
        if (isSideways()) { // before the turn the title is on the left, and lines enter from above
            const double length = std::max(bounds.height() + 2 * padding, root ? 0 : title);
            level.shift = QPointF(header, (length - bounds.height()) / 2) - bounds.topLeft();
            level.size = QSizeF(bounds.width() + header + padding, length);
            return;
        }
        const double width = std::max(bounds.width() + 2 * padding, root ? 0 : 2 * title);
        level.shift = QPointF((width - bounds.width()) / 2, header) - bounds.topLeft();
        level.size = QSizeF(width, bounds.height() + header + padding);
    }

    void draw(int levelIndex, QPointF origin)
    {
        auto& level = m_levels[std::size_t(levelIndex)];
        const QPointF shift = origin + level.shift;
        if (level.entry != FoldTree::kRoot) {
            m_drawing->boxes.push_back({level.entry, level.depth, QRectF(origin, level.size)});
        }
        for (std::size_t i = 0; i < level.children.size(); ++i) {
            const int child = level.children[i];
            const QPointF center = level.placement.centers[i] + shift;
            const auto open = m_levelOf.find(child);
            if (open == m_levelOf.end()) {
                QRectF rect(QPointF(0, 0), sizeOf(child));
                rect.moveCenter(center);
                m_drawnAt[child] = int(m_drawing->nodes.size());
                m_drawing->nodes.push_back({child, rect});
            } else {
                const QSizeF size = m_levels[std::size_t(open->second)].size;
                draw(open->second, center - QPointF(size.width() / 2, size.height() / 2));
            }
        }
        drawEdges(level, shift, QRectF(origin, level.size));
    }

    /// Returns the point where an edge touches an item: the middle of a node's side, or a port on a
    /// frame.
    QPointF anchor(const Level& level, int item, int portIndex, const QPointF& shift,
                   const QRectF& frame, bool leaving) const
    {
        QPointF center = level.placement.centers[std::size_t(item)] + shift;
        if (item >= int(level.children.size()))
            return {level.portCount(!leaving) == 1 ? frame.center().x() : center.x(),
                    leaving ? frame.top() : frame.bottom()};
        const int child = level.children[std::size_t(item)];
        const auto open = m_levelOf.find(child);
        if (open == m_levelOf.end())
            return {center.x(),
                    center.y() + (leaving ? 0.5 : -0.5) * double(level.heights[std::size_t(item)])};
        const auto& inner = m_levels[std::size_t(open->second)];
        const double y = center.y() + (leaving ? 1 : -1) * inner.size.height() / 2;
        if (portIndex < 0)
            return {center.x(), y};
        const bool out = inner.ports[std::size_t(portIndex)].out;
        if (inner.portCount(out) == 1)
            return {center.x(), y};
        const int portItem = inner.ports[std::size_t(portIndex)].item;
        const double x = center.x() - inner.size.width() / 2 + inner.shift.x()
            + inner.placement.centers[std::size_t(portItem)].x();
        return {x, y};
    }

    void drawEdges(const Level& level, const QPointF& shift, const QRectF& frame)
    {
        std::map<int, std::vector<std::size_t>> arriving;
        const std::size_t begin = m_drawing->edges.size();
        for (std::size_t i = 0; i < level.edges.size(); ++i) {
            const auto& edge = level.edges[i];
            DrawnEdge drawn = edge.drawn;
            auto& points = m_drawing->points;
            drawn.firstPoint = int(points.size());
            points.push_back(anchor(level, edge.fromItem, edge.fromPort, shift, frame, true));
            for (const auto& bend : level.placement.bends[i])
                points.push_back(bend + shift);
            points.push_back(anchor(level, edge.toItem, edge.toPort, shift, frame, false));
            drawn.pointCount = int(points.size()) - drawn.firstPoint;
            if (edge.toPort < 0 && edge.toItem < int(level.children.size()))
                arriving[edge.toItem].push_back(begin + i);
            m_drawing->edges.push_back(drawn);
        }
        for (auto& [item, edges] : arriving)
            spread(edges);
    }

    /// Spreads the ends of edges into one node along its side, in the order of their origins.
    void spread(std::vector<std::size_t>& edges)
    {
        if (edges.size() < 2)
            return;
        // The last point of an edge, or the one before.
        const auto point = [this](std::size_t e, int back) -> QPointF& {
            const auto& edge = m_drawing->edges[e];
            return m_drawing->points[std::size_t(edge.firstPoint + edge.pointCount - 1 - back)];
        };
        const auto comesFrom = [&](std::size_t e) { return point(e, 1).x(); };
        std::sort(edges.begin(), edges.end(),
                  [&](std::size_t a, std::size_t b) { return comesFrom(a) < comesFrom(b); });
        const double room = isSideways() ? 24 : 150;
        const double step = std::min(36.0, room / double(edges.size()));
        for (std::size_t i = 0; i < edges.size(); ++i)
            point(edges[i], 0).rx() += (double(i) - double(edges.size() - 1) / 2) * step;
    }

    const Graph& m_graph;
    const FoldTree& m_tree;
    LayoutQuality m_quality;
    std::vector<std::pair<ValueRef, int>> m_byName; ///< values shown by name, with the reader
    std::vector<int> m_drawnFor; ///< by entry
    std::unordered_map<int, int> m_drawnAt; ///< entry to index of the drawn node
    std::shared_ptr<GraphDrawing> m_drawing;
    std::vector<Level> m_levels; ///< parents before children
    std::unordered_map<int, int> m_levelOf;
    std::set<ValueRef> m_labelled;
};

} // namespace

Result<GraphDrawingPtr> layoutGraph(const GraphPtr& graph, const FoldTreePtr& tree,
                                    const std::set<int>& expanded, const JobContext& job,
                                    LayoutQuality quality, Flow flow)
{
    return LayoutRun(graph, tree, expanded, quality, flow).run(job);
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/block_runs.h"

#include "engine/base/text.h"

#include <algorithm>
#include <span>
#include <unordered_set>

namespace qs {

namespace {

/// Fewer are as easily read as the box around them.
constexpr std::size_t kFewestBlocks = 3;

/// "block" and "12" of "block12".
std::pair<std::string, std::string> withNumber(const std::string& name)
{
    const auto end = name.find_last_not_of("0123456789");
    const std::size_t digits = end == std::string::npos ? 0 : end + 1;
    return {name.substr(0, digits), name.substr(digits)};
}

/// "0–11 ×12", "block1–3 ×3", "stem–tail ×3".
std::string rangeText(const std::string& first, const std::string& last, std::size_t count)
{
    const std::string from = lastPart(first), to = lastPart(last);
    const auto [name, number] = withNumber(from);
    const auto [lastName, lastNumber] = withNumber(to);
    const bool counted = name == lastName && !number.empty() && !lastNumber.empty();
    return from + "–" + (counted ? lastNumber : to) + " ×" + std::to_string(count);
}

/// "layers.0–11 ×12": a bare number goes with the name before it.
std::string labelOf(const std::string& first, const std::string& last, std::size_t count)
{
    const std::string parent = lastPart(ModuleTree::parentPath(first));
    const bool bare = withNumber(lastPart(first)).first.empty();
    return (bare && !parent.empty() ? parent + "." : "") + rangeText(first, last, count);
}

std::string keyOf(const std::string& first, const std::string& last, std::size_t count)
{
    const std::string parent = ModuleTree::parentPath(first);
    return (parent.empty() ? "" : parent + ".") + rangeText(first, last, count);
}

/// More than one operator, and not shown as one node by the recipe.
bool isBlock(const FoldEntry& entry)
{
    return !entry.path.empty() && entry.wrap.empty()
        && (entry.isModule() || (entry.kind == FoldEntry::Kind::Unit && entry.members.size() > 1));
}

bool isSameBlock(const FoldEntry& a, const FoldEntry& b, const RepeatedModules& repeats)
{
    if (a.kind != b.kind || a.units != b.units || a.className != b.className)
        return false;
    const auto same = repeats.of(a.path);
    return std::find(same.begin(), same.end(), b.path) != same.end();
}

/// Calls `visit(parent)` for every module of the tree.
template<class Visit>
void forEachModule(const FoldTree& tree, int index, Visit&& visit)
{
    visit(index);
    for (const int child : tree.entry(index).children)
        if (tree.entry(child).isModule())
            forEachModule(tree, child, visit);
}

} // namespace

/// What is asked of the graph about neighbours in the tree.
class BlockNeighbours
{
public:
    BlockNeighbours(const Graph& graph, const FoldTree& tree)
        : m_graph(graph)
        , m_tree(tree)
    {
        std::size_t position = 0, most = 0;
        for (const auto& node : graph.nodes())
            most = std::max<std::size_t>(most, node->id.value());
        m_position.assign(most + 1, 0);
        m_owner.assign(most + 1, kOutside);
        for (const auto& node : graph.nodes())
            m_position[node->id.value()] = position++;
    }

    /// Cuts neighbours where a block reads nothing of the one before, or reads through other nodes
    /// what one of them made: as one box they would be a loop.
    std::vector<std::span<const int>> chains(std::span<const int> blocks)
    {
        std::vector<std::span<const int>> out;
        for (std::size_t from = 0; from < blocks.size();) {
            const std::size_t length = chainLength(blocks.subspan(from));
            out.push_back(blocks.subspan(from, length));
            from += length;
        }
        return out;
    }

private:
    static constexpr int kOutside = -1, kAfter = -2; ///< `kAfter`: outside, and made from a block

    /// How many of the blocks from the first on are a chain.
    std::size_t chainLength(std::span<const int> blocks)
    {
        std::size_t first = m_graph.nodes().size(), last = 0;
        for (std::size_t i = 0; i < blocks.size(); ++i)
            for (const NodeId id : m_tree.nodesOf(blocks[i])) {
                m_owner[id.value()] = int(i);
                first = std::min(first, m_position[id.value()]);
                last = std::max(last, m_position[id.value()]);
            }
        std::size_t length = blocks.size();
        std::vector<char> linked(blocks.size(), 0);
        for (std::size_t at = first; at <= last && at < m_graph.nodes().size(); ++at) {
            const Node& node = *m_graph.nodes()[at];
            int& owner = m_owner[node.id.value()];
            for (const auto& arg : node.args)
                forEachRef(arg.value, [&](ValueRef ref) {
                    const int maker = m_owner[ref.node.value()];
                    if (owner >= 0 && maker == owner - 1)
                        linked[std::size_t(owner)] = 1;
                    else if (owner >= 0 && maker == kAfter)
                        length = std::min(length, std::size_t(owner));
                    else if (owner < 0 && maker != kOutside)
                        owner = kAfter;
                });
        }
        for (std::size_t at = first; at <= last && at < m_graph.nodes().size(); ++at)
            m_owner[m_graph.nodes()[at]->id.value()] = kOutside;
        for (std::size_t i = 1; i < length; ++i)
            if (!linked[i])
                length = i;
        return std::max<std::size_t>(length, 1);
    }

    const Graph& m_graph;
    const FoldTree& m_tree;
    std::vector<std::size_t> m_position; ///< by the value of the node's id
    std::vector<int> m_owner; ///< likewise: the block, while a chain is looked at
};

BlockRuns findBlockRuns(const Graph& graph, const FoldTree& tree, const RepeatedModules& repeats)
{
    BlockRuns out;
    BlockNeighbours neighbours(graph, tree);
    const auto take = [&](std::span<const int> blocks) {
        for (const auto chain : neighbours.chains(blocks)) {
            if (chain.size() < kFewestBlocks)
                continue;
            BlockRun run;
            for (const int block : chain)
                run.paths.push_back(tree.entry(block).path);
            run.key = keyOf(run.paths.front(), run.paths.back(), run.paths.size());
            out.push_back(std::move(run));
        }
    };
    forEachModule(tree, FoldTree::kRoot, [&](int parent) {
        const std::span<const int> children = tree.entry(parent).children;
        for (std::size_t from = 0; from < children.size();) {
            std::size_t to = from + 1;
            const FoldEntry& first = tree.entry(children[from]);
            // A unit goes by its module only where it is all of it.
            const bool block = isBlock(first)
                && (first.isModule() || tree.moduleEntry(first.path) == children[from]);
            while (block && to < children.size()
                   && isSameBlock(first, tree.entry(children[to]), repeats))
                ++to;
            if (to - from >= kFewestBlocks)
                take(children.subspan(from, to - from));
            from = to;
        }
    });
    return out;
}

/// Adds the boxes to a copy of a tree.
class FoldTreeGrouper
{
public:
    FoldTreeGrouper(const Graph& graph, const FoldTreePtr& tree, const BlockRuns& runs,
                    const std::set<std::string>& open)
        : m_neighbours(graph, *tree)
        , m_tree(tree)
        , m_runs(runs)
        , m_open(open)
    {
        for (std::size_t run = 0; run < runs.size(); ++run)
            for (std::size_t i = 0; i < runs[run].paths.size(); ++i)
                m_places.emplace(runs[run].paths[i], std::pair(run, i));
    }

    FoldTreePtr group()
    {
        forEachModule(*m_tree, FoldTree::kRoot, [this](int parent) { groupIn(parent); });
        return m_grouped ? m_grouped : m_tree;
    }

private:
    /// The children from `from` on that are one run's blocks; at least one.
    std::size_t stretchOf(std::span<const int> children, std::size_t from) const
    {
        const auto place = m_places.find(m_tree->entry(children[from]).path);
        if (place == m_places.end() || !isBlock(m_tree->entry(children[from])))
            return 1;
        const auto& [run, start] = place->second;
        const auto& paths = m_runs[run].paths;
        std::size_t length = 1;
        while (start + length < paths.size() && from + length < children.size()
               && isBlock(m_tree->entry(children[from + length]))
               && m_tree->entry(children[from + length]).path == paths[start + length])
            ++length;
        return length;
    }

    void groupIn(int parent)
    {
        const std::vector<int> children = m_tree->entry(parent).children;
        std::vector<int> now;
        for (std::size_t from = 0; from < children.size();) {
            const std::size_t length = stretchOf(children, from);
            if (length < 2)
                now.push_back(children[from]);
            else
                for (const auto chain :
                     m_neighbours.chains(std::span(children).subspan(from, length)))
                    add(parent, chain, now);
            from += length;
        }
        if (now.size() != children.size())
            m_grouped->m_entries[std::size_t(parent)].children = std::move(now);
    }

    void add(int parent, std::span<const int> blocks, std::vector<int>& now)
    {
        const std::string& key = m_runs[m_places.at(m_tree->entry(blocks.front()).path).first].key;
        const bool whole = m_open.count(key) > 0;
        for (std::size_t from = 0; from < blocks.size();) {
            std::size_t to = from;
            while (to < blocks.size() && (whole || !isOpen(blocks[to])))
                ++to;
            if (to - from > 1)
                now.push_back(box(parent, blocks.subspan(from, to - from), key));
            else if (to > from)
                now.push_back(blocks[from]);
            if (to < blocks.size())
                now.push_back(blocks[to]);
            from = to + 1;
        }
    }

    bool isOpen(int block) const
    {
        const FoldEntry& entry = m_tree->entry(block);
        return entry.isModule() && m_open.count(entry.path) > 0;
    }

    int box(int parent, std::span<const int> blocks, const std::string& key)
    {
        if (!m_grouped) {
            m_grouped = std::make_shared<FoldTree>(*m_tree);
            m_grouped->m_ungrouped = m_tree;
            // Room for each block and no more: growing doubles what a large tree takes.
            m_grouped->m_entries.reserve(m_tree->m_entries.size() + m_places.size());
        }
        const FoldEntry& first = m_tree->entry(blocks.front());
        const FoldEntry& last = m_tree->entry(blocks.back());
        FoldEntry out;
        out.kind = FoldEntry::Kind::Module;
        out.parent = parent;
        out.children.assign(blocks.begin(), blocks.end());
        out.path = key;
        out.label = labelOf(first.path, last.path, blocks.size());
        out.className = first.className;
        out.repeats = int(blocks.size());
        out.order = first.order;
        out.firstNode = first.firstNode;
        out.lastNode = last.lastNode;
        const int index = int(m_grouped->m_entries.size());
        for (const int block : blocks) {
            out.units += m_tree->entry(block).units;
            m_grouped->m_entries[std::size_t(block)].parent = index;
        }
        m_grouped->m_entries.push_back(std::move(out));
        return index;
    }

    BlockNeighbours m_neighbours;
    FoldTreePtr m_tree;
    const BlockRuns& m_runs;
    const std::set<std::string>& m_open;
    std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> m_places;
    std::shared_ptr<FoldTree> m_grouped;
};

FoldTreePtr groupedTree(const Graph& graph, const FoldTreePtr& tree, const BlockRuns& runs,
                        const std::set<std::string>& open)
{
    return runs.empty() ? tree : FoldTreeGrouper(graph, tree, runs, open).group();
}

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/block_neighbours.h"
#include "ui/graph/layout/block_runs.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace qs {

/// Adds the boxes to a copy of a tree.
class FoldTreeGrouper
{
public:
    FoldTreeGrouper(const Graph& graph, const FoldTreePtr& tree, const BlockRuns& runs,
                    const std::set<std::string>& open)
        : m_graph(graph)
        , m_neighbours(graph, *tree)
        , m_tree(tree)
        , m_runs(runs)
        , m_open(open)
    {
        for (std::size_t run = 0; run < runs.size(); ++run)
            for (std::size_t i = 0; i < runs[run].paths.size(); ++i)
                m_places.emplace(runs[run].paths[i], std::pair(run, i / runs[run].modules));
        for (const BlockRun& run : runs)
            m_lists.insert(run.lists.begin(), run.lists.end());
        for (const BlockRun& run : runs)
            for (const std::string& path : run.paths) {
                std::string parent = ModuleTree::parentPath(path);
                while (m_lists.contains(parent))
                    parent = ModuleTree::parentPath(parent);
                m_parents.insert(std::move(parent));
            }
        for (std::size_t run = 0; run < runs.size(); ++run)
            for (const auto& [node, block] : runs[run].glue)
                m_glue.emplace(node, std::pair(run, block));
    }

    FoldTreePtr group()
    {
        forEachModule(*m_tree, FoldTree::kRoot, [this](int parent) { groupIn(parent); });
        return m_grouped ? m_grouped : m_tree;
    }

private:
    using Place = std::pair<std::size_t, std::size_t>; ///< run and block

    /// Returns the block that the entry belongs to.
    std::optional<Place> placeOf(int entry) const
    {
        std::optional<Place> out;
        const auto modules = modulesOfEntry(m_graph, *m_tree, entry, m_lists);
        for (const auto& module : modules) {
            const auto found = m_places.find(module);
            if (found == m_places.end() || (out && *out != found->second))
                return std::nullopt;
            out = found->second;
        }
        if (modules.empty())
            for (const NodeId id : m_tree->entry(entry).members)
                if (const auto found = m_glue.find(originOf(m_graph.get(id)));
                    found != m_glue.end())
                    out = found->second;
        const bool isAlone
            = out && m_runs[out->first].modules == 1 && m_runs[out->first].glue.empty();
        return isAlone && !isBlock(m_tree->entry(entry)) ? std::nullopt : out;
    }

    /// True if conversion added the entry: it then belongs to the block of its neighbours.
    bool isAdded(int entry) const
    {
        const auto& members = m_tree->entry(entry).members;
        return !members.empty() && modulesOfEntry(m_graph, *m_tree, entry, m_lists).empty()
            && std::all_of(members.begin(), members.end(),
                           [this](NodeId id) { return bool(m_graph.get(id).origin); });
    }

    /// Returns the consecutive blocks of one run that begin at child `from`; empty if there are
    /// none.
    std::vector<BlockEntries> stretchOf(std::span<const int> children, std::size_t from) const
    {
        std::vector<BlockEntries> out;
        std::optional<Place> last;
        BlockEntries added;
        for (; from < children.size(); ++from) {
            const auto place = placeOf(children[from]);
            if (!place && last && isAdded(children[from])) {
                added.push_back(children[from]);
                continue;
            }
            const bool begins = place && (!last || *place == Place(last->first, last->second + 1));
            if (!place || (!begins && *place != *last))
                break;
            if (!out.empty())
                out.back().insert(out.back().end(), added.begin(), added.end());
            added.clear();
            if (begins)
                out.emplace_back();
            out.back().push_back(children[from]);
            last = place;
        }
        return out;
    }

    void groupIn(int parent)
    {
        if (!m_parents.contains(moduleOfPath(m_tree->entry(parent).path)))
            return;
        const std::vector<int> children = partsOf(*m_tree, parent, m_lists);
        std::vector<int> come;
        for (std::size_t from = 0; from < children.size();) {
            const auto blocks = stretchOf(children, from);
            from += blocks.empty();
            for (const auto chain : m_neighbours.chains(blocks))
                add(parent, chain, come);
            for (const BlockEntries& block : blocks)
                from += block.size();
        }
        if (!come.empty())
            rearrange(parent, come);
    }

    /// Updates the children of an entry: removes those that moved into a box or to the enclosing
    /// module, and empty lists; inserts `come`. Returns false if no child is left.
    bool rearrange(int index, const std::vector<int>& come)
    {
        std::vector<int> now = come;
        for (const int child : m_tree->entry(index).children) {
            if (m_grouped->entry(child).parent != index)
                continue;
            const bool isList
                = m_tree->entry(child).isModule() && m_lists.contains(m_tree->entry(child).path);
            if (isList && !rearrange(child, {}))
                own(child).parent = m_grouped->entry(m_tree->entry(child).children.front()).parent;
            else
                now.push_back(child);
        }
        std::stable_sort(now.begin(), now.end(), [this](int a, int b) {
            return m_grouped->entry(a).order < m_grouped->entry(b).order;
        });
        if (now == m_tree->entry(index).children)
            return true;
        FoldEntry& entry = own(index);
        entry.children = std::move(now);
        if (entry.children.empty())
            return false;
        entry.order = m_grouped->entry(entry.children.front()).order;
        return true;
    }

    /// Puts the blocks into boxes. Appends new children of the module to `come`.
    void add(int parent, std::span<const BlockEntries> blocks, std::vector<int>& come)
    {
        const BlockRun& run = m_runs[placeOf(blocks.front().front())->first];
        const bool whole = m_open.count(run.key) > 0;
        const auto append = [&](const BlockEntries& block) {
            for (const int entry : block)
                if (m_tree->entry(entry).parent != parent) { // out of its list
                    own(entry).parent = parent;
                    come.push_back(entry);
                }
        };
        for (std::size_t from = 0; from < blocks.size();) {
            std::size_t to = from;
            while (to < blocks.size() && (whole || !isOpen(blocks[to])))
                ++to;
            if (to - from > 1)
                come.push_back(box(parent, blocks.subspan(from, to - from), run));
            else if (to > from)
                append(blocks[from]);
            if (to < blocks.size())
                append(blocks[to]);
            from = to + 1;
        }
    }

    bool isOpen(const BlockEntries& block) const
    {
        return std::any_of(block.begin(), block.end(), [this](int index) {
            const FoldEntry& entry = m_tree->entry(index);
            return entry.isModule() && m_open.count(entry.path) > 0;
        });
    }

    /// Returns the classes of a block of several neighbours: "Conv2d·ReLU".
    std::string classesOf(const BlockEntries& block) const
    {
        std::string out, before;
        for (const int index : block) {
            const std::string& name = m_tree->entry(index).className;
            if (!name.empty() && name != before)
                out += (out.empty() ? "" : "·") + name;
            before = name;
        }
        return out;
    }

    void begin()
    {
        m_grouped = std::make_shared<FoldTree>();
        m_grouped->m_ungrouped = m_tree;
        auto& entries = m_grouped->m_grouped;
        // Exact capacity: growth would double the memory of a large tree.
        entries.reserve(m_tree->size() + m_places.size());
        for (const FoldEntry& entry : m_tree->m_entries)
            entries.push_back(&entry);
    }

    /// Returns a copy of the entry in the grouped tree, for changes.
    FoldEntry& own(int index)
    {
        if (!m_grouped)
            begin();
        const auto [known, fresh] = m_own.emplace(index, nullptr);
        if (fresh) {
            auto& at = m_grouped->m_grouped[std::size_t(index)];
            known->second = &m_grouped->m_own.emplace_back(*at);
            at = known->second;
        }
        return *known->second;
    }

    int box(int parent, std::span<const BlockEntries> blocks, const BlockRun& run)
    {
        if (!m_grouped)
            begin();
        const FoldEntry& first = m_tree->entry(blocks.front().front());
        const std::size_t begins = placeOf(blocks.front().front())->second * run.modules;
        const std::size_t ends = (placeOf(blocks.back().front())->second + 1) * run.modules - 1;
        FoldEntry out;
        out.kind = FoldEntry::Kind::Module;
        out.parent = parent;
        out.path = run.key;
        out.label = runLabel(run.paths[begins], run.paths[ends], blocks.size());
        out.className = classesOf(blocks.front());
        out.repeats = int(blocks.size());
        out.order = first.order;
        const int index = int(m_grouped->size());
        auto& blockEnds = m_grouped->m_blockEnds[index];
        for (const BlockEntries& block : blocks) {
            for (const int entry : block) {
                out.children.push_back(entry);
                out.units += m_tree->entry(entry).units;
                own(entry).parent = index;
            }
            blockEnds.push_back(out.children.size());
        }
        m_grouped->m_grouped.push_back(&m_grouped->m_own.emplace_back(std::move(out)));
        return index;
    }

    const Graph& m_graph;
    BlockNeighbours m_neighbours;
    FoldTreePtr m_tree;
    const BlockRuns& m_runs;
    const std::set<std::string>& m_open;
    std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> m_places;
    TurnLists m_lists; ///< of all runs
    std::set<std::string> m_parents; ///< modules with blocks
    std::unordered_map<NodeId, Place> m_glue; ///< by the float node
    std::shared_ptr<FoldTree> m_grouped;
    std::unordered_map<int, FoldEntry*> m_own; ///< by entry of the grouped tree
};

FoldTreePtr groupedTree(const Graph& graph, const FoldTreePtr& tree, const BlockRuns& runs,
                        const std::set<std::string>& open)
{
    return runs.empty() ? tree : FoldTreeGrouper(graph, tree, runs, open).group();
}

} // namespace qs

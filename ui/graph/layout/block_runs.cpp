// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/layout/block_runs.h"

#include "engine/graph/text/graph_printer.h"
#include "ui/graph/layout/block_neighbours.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace qs {

namespace {

/// Minimum number of blocks in a run.
constexpr std::size_t kFewestBlocks = 3;

/// Maximum number of neighbours in one block.
constexpr std::size_t kLongestPeriod = 32;

/// Finds the runs among the children of each module in turn.
class RunFinder
{
public:
    RunFinder(const Graph& graph, const FoldTree& tree, const RepeatedModules& repeats)
        : m_graph(graph)
        , m_tree(tree)
        , m_repeats(repeats)
        , m_neighbours(graph, tree)
        , m_lists(findTurnLists(graph))
    {
    }

    BlockRuns find()
    {
        findWhere([this](const std::string& path) { return !m_lists.contains(path); });
        // Parts of a list that form no run together with its neighbours may form one alone.
        TurnLists alone = std::exchange(m_lists, {});
        for (const BlockRun& run : m_runs)
            m_lists.insert(run.lists.begin(), run.lists.end());
        std::erase_if(alone, [this](const std::string& list) { return m_lists.contains(list); });
        findWhere([&alone](const std::string& path) { return alone.contains(path); });
        return std::move(m_runs);
    }

private:
    template<class Wanted>
    void findWhere(Wanted wanted)
    {
        forEachModule(m_tree, FoldTree::kRoot, [&](int parent) {
            if (wanted(m_tree.entry(parent).path))
                findIn(parent);
        });
    }

    /// `count` blocks of `period` neighbours each, starting at child `from`.
    struct Stretch
    {
        std::size_t from = 0, period = 1, count = 0;
        std::size_t size() const { return period * count; }
    };

    void findIn(int parent)
    {
        m_children = partsOf(m_tree, parent, m_lists);
        if (m_children.size() < kFewestBlocks)
            return;
        describe();
        std::vector<std::size_t> triedUntil(kLongestPeriod + 1, 0);
        for (std::size_t from = 0; from < m_children.size();) {
            const Stretch longest = longestFrom(from, kLongestPeriod, triedUntil);
            const Stretch alike = longestFrom(from, 1, triedUntil);
            std::size_t next = from + 1;
            for (const Stretch& stretch : {longest, alike}) {
                if (stretch.count < kFewestBlocks)
                    continue;
                triedUntil[stretch.period] = stretch.from + stretch.size();
                if (take(stretch)) {
                    next = stretch.from + stretch.size();
                    break;
                }
            }
            from = next;
        }
    }

    /// Numbers the kinds of the children, and fills `m_same`: for each period and child, how many
    /// children from there on equal the child one period later.
    void describe()
    {
        const std::size_t count = m_children.size();
        m_modules.clear();
        std::unordered_map<std::string, int> uses;
        for (const int child : m_children) {
            m_modules.push_back(modulesOfEntry(m_graph, m_tree, child, m_lists));
            for (const auto& module : m_modules.back())
                ++uses[module];
        }
        std::unordered_map<std::string, int> numbers;
        std::vector<int> kinds(count);
        for (std::size_t i = 0; i < count; ++i) {
            const FoldEntry& entry = m_tree.entry(m_children[i]);
            const bool own = m_modules[i].empty()
                ? !entry.members.empty()
                    && glueOf(m_graph, m_tree, m_children[i]).size() == entry.members.size()
                : std::all_of(m_modules[i].begin(), m_modules[i].end(),
                              [&](const std::string& module) { return uses[module] == 1; });
            kinds[i] = own ? numbers.emplace(kindOf(i), int(numbers.size())).first->second
                           : -1 - int(i); // a unique kind
        }
        m_same.assign(std::min(kLongestPeriod, count / kFewestBlocks) + 1, {});
        for (std::size_t period = 1; period < m_same.size(); ++period) {
            auto& same = m_same[period];
            same.assign(count + 1, 0);
            for (std::size_t i = count - period; i-- > 0;)
                same[i] = kinds[i] == kinds[i + period] ? same[i + 1] + 1 : 0;
        }
    }

    std::string kindOf(std::size_t i) const
    {
        const FoldEntry& entry = m_tree.entry(m_children[i]);
        std::string out = std::to_string(int(entry.kind)) + " " + std::to_string(entry.units) + " "
            + std::to_string(entry.members.size()) + " " + entry.className;
        for (const auto& module : m_modules[i]) {
            const auto alike = m_repeats.of(module);
            out += " " + (alike.empty() ? module : alike.front());
        }
        for (const NodeId id : glueOf(m_graph, m_tree, m_children[i])) {
            out += " " + m_graph.get(id).target;
            for (const auto& arg : m_graph.get(id).args)
                out += " " + arg.name + literalsOf(arg.value);
        }
        return out;
    }

    /// Returns the literals of an argument, "=1". The values that it reads are compared by
    /// `wiringOf`.
    std::string literalsOf(const Argument& argument) const
    {
        std::string out;
        if (const auto* list = argument.asList())
            for (const auto& item : *list)
                out += literalsOf(item);
        else if (!argument.asRef())
            out = "=" + printArgument(m_graph, argument);
        return out;
    }

    bool hasModule(std::size_t from, std::size_t count) const
    {
        return std::any_of(m_modules.begin() + std::ptrdiff_t(from),
                           m_modules.begin() + std::ptrdiff_t(from + count),
                           [](const auto& modules) { return !modules.empty(); });
    }

    /// Returns the blocks from child `from` on that cover most children; among equals those of the
    /// shortest period.
    Stretch longestFrom(std::size_t from, std::size_t longest,
                        const std::vector<std::size_t>& triedUntil) const
    {
        Stretch out;
        for (std::size_t period = 1; period <= longest && period < m_same.size(); ++period) {
            const std::size_t all = m_same[period][from] + period;
            const std::size_t count = all / period;
            if (count < kFewestBlocks || count * period <= out.size())
                continue; // near the end no whole period is left
            const bool worth = hasModule(from, period)
                && (period > 1 || isBlock(m_tree.entry(m_children[from])));
            if (!worth || triedUntil[period] > from || isRepetition(from, period))
                continue;
            out = {from + firstLearned(from, std::min(all % period + 1, period)), period, count};
        }
        return out;
    }

    /// True if these neighbours also repeat with a shorter period.
    bool isRepetition(std::size_t from, std::size_t period) const
    {
        for (std::size_t shorter = 1; shorter < period; ++shorter)
            if (period % shorter == 0 && m_same[shorter][from] >= period - shorter)
                return true;
        return false;
    }

    /// Returns the offset of the first of `places` possible starts whose child reads parameters;
    /// else 0.
    std::size_t firstLearned(std::size_t from, std::size_t places) const
    {
        for (std::size_t i = 0; i < places; ++i)
            for (const NodeId id : m_tree.nodesOf(m_children[from + i]))
                for (const auto& arg : m_graph.get(id).args)
                    if (const auto* ref = arg.value.asRef();
                        ref && m_graph.get(ref->node).isStored())
                        return i;
        return 0;
    }

    /// Returns, for each value read in the block, the position of its producer in the block;
    /// `kOutside` for other producers.
    std::vector<std::size_t> wiringOf(const BlockEntries& block) const
    {
        constexpr std::size_t kOutside = std::size_t(-1);
        std::unordered_map<NodeId, std::size_t> places;
        std::vector<std::size_t> out;
        for (const int entry : block)
            for (const NodeId id : m_tree.nodesOf(entry)) {
                for (const auto& arg : m_graph.get(id).args)
                    forEachRef(arg.value, [&](ValueRef ref) {
                        const auto made = places.find(ref.node);
                        out.push_back(made == places.end() ? kOutside : made->second);
                    });
                places.emplace(id, places.size());
            }
        return out;
    }

    /// Adds the runs inside the stretch; false without runs.
    bool take(const Stretch& stretch)
    {
        std::vector<BlockEntries> blocks;
        for (std::size_t i = 0; i < stretch.count; ++i) {
            const auto block = std::span<const int>(m_children)
                                   .subspan(stretch.from + i * stretch.period, stretch.period);
            blocks.emplace_back(block.begin(), block.end());
        }
        bool found = false;
        const std::span<const BlockEntries> all = blocks;
        for (std::size_t from = 0; from < all.size();) {
            std::size_t to = from + 1;
            const auto wiring = wiringOf(all[from]);
            while (to < all.size() && wiringOf(all[to]) == wiring)
                ++to;
            for (const auto chain : m_neighbours.chains(all.subspan(from, to - from)))
                if (chain.size() >= kFewestBlocks) {
                    add(chain);
                    found = true;
                }
            from = to;
        }
        return found;
    }

    void add(std::span<const BlockEntries> chain)
    {
        BlockRun run;
        for (std::size_t block = 0; block < chain.size(); ++block)
            for (const int entry : chain[block]) {
                for (auto& module : modulesOfEntry(m_graph, m_tree, entry, m_lists)) {
                    for (std::string up = ModuleTree::parentPath(module); m_lists.contains(up);
                         up = ModuleTree::parentPath(up))
                        run.lists.insert(up);
                    run.paths.push_back(std::move(module));
                }
                for (const NodeId id : glueOf(m_graph, m_tree, entry))
                    run.glue.emplace_back(id, block);
            }
        run.modules = run.paths.size() / chain.size();
        run.key = runKey(run.paths.front(), run.paths.back(), chain.size());
        m_runs.push_back(std::move(run));
    }

    const Graph& m_graph;
    const FoldTree& m_tree;
    const RepeatedModules& m_repeats;
    BlockNeighbours m_neighbours;
    BlockRuns m_runs;
    TurnLists m_lists;
    std::vector<int> m_children; ///< parts of the current module
    std::vector<std::vector<std::string>> m_modules; ///< by child
    std::vector<std::vector<std::size_t>> m_same; ///< by period and child
};

} // namespace

bool isPartOf(const BlockRun& run, const Graph& graph, const FoldTree& tree, int entry)
{
    const auto modules = modulesOfEntry(graph, tree, entry, run.lists);
    const auto isGlue = [&](NodeId id) {
        const NodeId origin = originOf(graph.get(id));
        return std::any_of(run.glue.begin(), run.glue.end(),
                           [origin](const auto& glue) { return glue.first == origin; });
    };
    const auto& members = tree.entry(entry).members;
    return modules.empty()
        ? std::any_of(members.begin(), members.end(), isGlue)
        : std::find(run.paths.begin(), run.paths.end(), modules.front()) != run.paths.end();
}

BlockRuns findBlockRuns(const Graph& graph, const FoldTree& tree, const RepeatedModules& repeats)
{
    return RunFinder(graph, tree, repeats).find();
}

} // namespace qs

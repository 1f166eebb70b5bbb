// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/open_modules.h"

#include "ui/graph/layout/block_neighbours.h"
#include "ui/graph/layout/expansion.h"

#include <algorithm>

namespace qs {

namespace {

/// Maximum number of items in a readable first view.
constexpr int kFirstViewBudget = 16;

} // namespace

std::set<std::string> OpenModules::firstPaths(const Graph& model, const FoldTreePtr& tree,
                                              const BlockRuns& runs)
{
    const FoldTreePtr grouped = groupedTree(model, tree, runs, {});
    std::set<std::string> out;
    for (const int entry : initialExpansion(*grouped, kFirstViewBudget))
        out.insert(grouped->entry(entry).path);
    return out;
}

void OpenModules::foldNewWraps(const FoldTree& tree)
{
    std::set<std::string> wrapped;
    for (int i = 0; i < int(tree.size()); ++i)
        if (const FoldEntry& entry = tree.entry(i); entry.isModule() && !entry.wrap.empty()) {
            wrapped.insert(entry.path);
            if (!m_wrapped.count(entry.path))
                m_paths.erase(entry.path);
        }
    m_wrapped = std::move(wrapped);
}

void OpenModules::toggle(const std::string& first, std::span<const std::string> paths)
{
    const bool open = m_paths.count(first) == 0;
    for (const auto& path : paths)
        if (open)
            m_paths.insert(path);
        else
            m_paths.erase(path);
}

void OpenModules::toggle(const FoldTree& tree, int index, bool recursively)
{
    const auto& entry = tree.entry(index);
    std::vector<std::string> paths {entry.path};
    if (entry.repeats > 0 && m_paths.count(entry.path))
        for (const int block : entry.children)
            if (tree.entry(block).isModule())
                paths.push_back(tree.entry(block).path);
    for (std::size_t i = 1; recursively && i < tree.size(); ++i)
        if (tree.entry(int(i)).isModule() && tree.isWithin(int(i), index))
            paths.push_back(tree.entry(int(i)).path);
    toggle(entry.path, paths);
}

void OpenModules::openAll(const FoldTree& tree)
{
    for (std::size_t i = 1; i < tree.size(); ++i)
        if (tree.entry(int(i)).isModule())
            m_paths.insert(tree.entry(int(i)).path);
    // A block that is not a drawn module has no path to open: open its whole run.
    for (const BlockRun& run : *m_runs)
        if (const int first = tree.moduleEntry(run.paths.front());
            run.modules > 1 || (first >= 0 && !tree.entry(first).isModule()))
            m_paths.insert(run.key);
}

bool OpenModules::openAround(const Graph& graph, const FoldTree& tree, int index)
{
    bool opened = false;
    for (int up = tree.entry(index).parent; up > FoldTree::kRoot; up = tree.entry(up).parent)
        opened |= m_paths.insert(tree.entry(up).path).second;
    const FoldEntry& entry = tree.entry(index);
    for (const BlockRun& run : *m_runs)
        if (!m_paths.count(run.key) && isPartOf(run, graph, tree, index))
            opened |= m_paths.insert(entry.isModule() ? entry.path : run.key).second;
    return opened;
}

} // namespace qs

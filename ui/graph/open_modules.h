// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/layout/block_runs.h"

#include <set>
#include <span>
#include <string>

namespace qs {

/// The modules that the graph shows unfolded, by path and therefore in every form, and the blocks
/// that share one box. GUI thread only.
class OpenModules
{
public:
    /// Modules and, by their keys, boxes around blocks.
    const std::set<std::string>& paths() const { return m_paths; }
    void setPaths(std::set<std::string> paths) { m_paths = std::move(paths); }
    /// The blocks that stand in one box; never null.
    const BlockRunsPtr& runs() const { return m_runs; }
    void setRuns(BlockRunsPtr runs) { m_runs = std::move(runs); }

    /// Modules that a first view of the model opens at a readable size. Any thread.
    static std::set<std::string> firstPaths(const Graph& model, const FoldTreePtr& tree,
                                            const BlockRuns& runs);
    /// Folds modules that the recipe has just wrapped, until the user opens them.
    void foldNewWraps(const FoldTree& tree);
    /// Opens all the paths where the first is folded, else folds them.
    void toggle(const std::string& first, std::span<const std::string> paths);
    /// Opens or folds a module or a box around blocks; `recursively` with all inside. A box that is
    /// folded takes its blocks back.
    void toggle(const FoldTree& tree, int entry, bool recursively);
    void openAll(const FoldTree& tree);
    void foldAll() { m_paths = {std::string()}; }
    /// Opens the modules around an entry, and takes a block out of its box. False if all were
    /// open.
    bool openAround(const Graph& graph, const FoldTree& tree, int entry);

private:
    std::set<std::string> m_paths;
    std::set<std::string> m_wrapped; ///< paths that the recipe shows as one node
    BlockRunsPtr m_runs = std::make_shared<const BlockRuns>();
};

} // namespace qs

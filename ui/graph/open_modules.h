// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/layout/block_runs.h"

#include <set>
#include <span>
#include <string>

namespace qs {

/// The unfolded modules, by path and so for all forms, and the runs of blocks that are drawn as
/// boxes. GUI thread only.
class OpenModules
{
public:
    /// The open modules, and the keys of open boxes around blocks.
    const std::set<std::string>& paths() const { return m_paths; }
    void setPaths(std::set<std::string> paths) { m_paths = std::move(paths); }
    /// The runs that are drawn as boxes; never null.
    const BlockRunsPtr& runs() const { return m_runs; }
    void setRuns(BlockRunsPtr runs) { m_runs = std::move(runs); }

    /// Returns the modules that a first view of the model opens, so few that it stays readable. Any
    /// thread.
    static std::set<std::string> firstPaths(const Graph& model, const FoldTreePtr& tree,
                                            const BlockRuns& runs);
    /// Folds modules that the recipe has just wrapped, until the user opens them.
    void foldNewWraps(const FoldTree& tree);
    /// Opens all paths if `first` is folded, else folds them.
    void toggle(const std::string& first, std::span<const std::string> paths);
    /// Opens or folds a module or a box around blocks; `recursively`: with everything inside.
    /// Folding a box also folds its opened blocks.
    void toggle(const FoldTree& tree, int entry, bool recursively);
    void openAll(const FoldTree& tree);
    void foldAll() { m_paths = {std::string()}; }
    /// Opens the modules around an entry, and takes a block out of its box. False if nothing
    /// changed.
    bool openAround(const Graph& graph, const FoldTree& tree, int entry);

private:
    std::set<std::string> m_paths;
    std::set<std::string> m_wrapped; ///< paths that the recipe shows as one node
    BlockRunsPtr m_runs = std::make_shared<const BlockRuns>();
};

} // namespace qs

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// The neighbouring entries that form one block, in graph order.
using BlockEntries = std::vector<int>;

/// Paths of container modules whose parts run in turn with the container's neighbours, as both
/// lists of `for conv, norm in zip(self.convs, self.norms)`. Their parts belong to the enclosing
/// module.
using TurnLists = std::set<std::string>;
TurnLists findTurnLists(const Graph& graph);

/// Returns the parts of a module in graph order: its children, with each list replaced by its
/// parts.
std::vector<int> partsOf(const FoldTree& tree, int parent, const TurnLists& lists);

/// Returns the modules, directly inside the entry's parent or in a list there, that the entry
/// represents: a module itself; for a unit, the modules of its members. Empty for operators of the
/// parent itself and for modules that the recipe shows as one node.
std::vector<std::string> modulesOfEntry(const Graph& graph, const FoldTree& tree, int index,
                                        const TurnLists& lists);

/// Returns the unit's operators that the parent module computes itself, as the sum in
/// `x + self.attn(x)`; empty for modules.
std::vector<NodeId> glueOf(const Graph& graph, const FoldTree& tree, int index);

/// True if the entry has more than one operator and the recipe does not show it as one node.
bool isBlock(const FoldEntry& entry);

/// Returns "layers.0–11 ×12" for blocks from the first module to the last: a bare number is shown
/// with the name before it. "convs.0–norms.11 ×12" if they are in different modules.
std::string runLabel(const std::string& first, const std::string& last, std::size_t count);
/// Returns the label with the full path: "model.layers.0–11 ×12".
std::string runKey(const std::string& first, const std::string& last, std::size_t count);

/// Calls `visit(parent)` for every module of the tree.
template<class Visit>
void forEachModule(const FoldTree& tree, int index, Visit&& visit)
{
    visit(index);
    for (const int child : tree.entry(index).children)
        if (tree.entry(child).isModule())
            forEachModule(tree, child, visit);
}

/// Queries on blocks that are neighbours in the tree.
class BlockNeighbours
{
public:
    BlockNeighbours(const Graph& graph, const FoldTree& tree);

    /// Splits the blocks into chains: before a block that reads nothing of its predecessor, and
    /// before one that reads a block's value through nodes outside, as one box would then form a
    /// cycle.
    std::vector<std::span<const BlockEntries>> chains(std::span<const BlockEntries> blocks);

private:
    static constexpr int kOutside = -1, kAfter = -2; ///< `kAfter`: outside, computed from a block

    /// Returns the length of the chain that begins with the first block.
    std::size_t chainLength(std::span<const BlockEntries> blocks);

    const Graph& m_graph;
    const FoldTree& m_tree;
    std::vector<std::size_t> m_position; ///< by the value of the node's id
    std::vector<int> m_owner; ///< by node id: the block, while a chain is measured
};

} // namespace qs

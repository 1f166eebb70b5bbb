// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <set>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// The neighbours in the tree that make one block, in graph order.
using BlockEntries = std::vector<int>;

/// Paths of modules that only hold others, which run in turn with what stands beside the holder:
/// both lists of `for conv, norm in zip(self.convs, self.norms)`. Their parts belong to the module
/// around.
using TurnLists = std::set<std::string>;
TurnLists findTurnLists(const Graph& graph);

/// The parts of a module in graph order: its children, and in place of a list the list's.
std::vector<int> partsOf(const FoldTree& tree, int parent, const TurnLists& lists);

/// The modules directly inside the entry's parent, or in a list there, that the entry stands for: a
/// module itself, of a unit those of its members. Empty for operators of the parent itself and for
/// modules that the recipe shows as one node.
std::vector<std::string> modulesOfEntry(const Graph& graph, const FoldTree& tree, int index,
                                        const TurnLists& lists);

/// The operators of the unit that belong to the entry's parent itself, as the sum in
/// `x + self.attn(x)`; empty for modules.
std::vector<NodeId> glueOf(const Graph& graph, const FoldTree& tree, int index);

/// More than one operator, and not shown as one node by the recipe.
bool isBlock(const FoldEntry& entry);

/// "layers.0–11 ×12" for blocks from the first module to the last: a bare number goes with the name
/// before it. "convs.0–norms.11 ×12" where they are in different modules.
std::string runLabel(const std::string& first, const std::string& last, std::size_t count);
/// "model.layers.0–11 ×12".
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

/// Queries on blocks that stand beside each other in the tree.
class BlockNeighbours
{
public:
    BlockNeighbours(const Graph& graph, const FoldTree& tree);

    /// Cuts the blocks where one reads nothing of the one before, or reads through other nodes what
    /// one of them made: as one box they would be a loop.
    std::vector<std::span<const BlockEntries>> chains(std::span<const BlockEntries> blocks);

private:
    static constexpr int kOutside = -1, kAfter = -2; ///< `kAfter`: outside, and made from a block

    /// How many of the blocks from the first on are a chain.
    std::size_t chainLength(std::span<const BlockEntries> blocks);

    const Graph& m_graph;
    const FoldTree& m_tree;
    std::vector<std::size_t> m_position; ///< by the value of the node's id
    std::vector<int> m_owner; ///< likewise: the block, while a chain is looked at
};

} // namespace qs

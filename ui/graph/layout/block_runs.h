// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/repeated_modules.h"
#include "ui/graph/layout/block_neighbours.h"

#include <set>
#include <string>
#include <vector>

namespace qs {

/// Consecutive equal blocks of a model; each reads the result of its predecessor. They are drawn as
/// one box until one or all are unfolded. A value.
struct BlockRun
{
    std::vector<std::string> paths; ///< of the blocks' modules, in graph order
    std::size_t modules = 1; ///< number of paths per block
    /// Operators of the enclosing module that belong to a block, with the index of the block.
    std::vector<std::pair<NodeId, std::size_t>> glue;
    TurnLists lists; ///< lists that the blocks' modules are in
    std::string key; ///< "model.layers.0–11 ×12"; as an open path: all blocks are unfolded
    friend bool operator==(const BlockRun&, const BlockRun&) = default;
};
using BlockRuns = std::vector<BlockRun>;
using BlockRunsPtr = std::shared_ptr<const BlockRuns>;

/// Returns the runs of three or more blocks in each module. A block is a module with more than one
/// operator inside, a fused unit, or several neighbouring modules that repeat in the same order and
/// wiring (Conv, ReLU, Conv, ReLU...), with the operators of the enclosing module between them
/// (`x = x + attn(x); x = x + mlp(x)`). The blocks of a run are neighbours in one module, or in
/// lists that it runs in turn (`zip(self.convs, self.norms)`). No value goes from one of them
/// through other nodes to a later one.
BlockRuns findBlockRuns(const Graph& graph, const FoldTree& tree, const RepeatedModules& repeats);

/// True if the entry is a block of the run or a part of one. For every form of the model.
bool isPartOf(const BlockRun& run, const Graph& graph, const FoldTree& tree, int entry);

/// Returns the float node of origin of a node of any form; the node itself in the float form.
inline NodeId originOf(const Node& node)
{
    return node.origin ? node.origin : node.id;
}

/// Returns the tree with a box (a new module) around the blocks of every run: around all of them if
/// the run's key is in `open`, else around each stretch between blocks that are open themselves.
/// Entries keep their indices; boxes follow them, with their key as path. Returns `tree` if there
/// is nothing to group. For every form of the runs' model.
FoldTreePtr groupedTree(const Graph& graph, const FoldTreePtr& tree, const BlockRuns& runs,
                        const std::set<std::string>& open);

} // namespace qs

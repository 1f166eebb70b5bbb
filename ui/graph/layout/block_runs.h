// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/repeated_modules.h"
#include "ui/graph/layout/block_neighbours.h"

#include <set>
#include <string>
#include <vector>

namespace qs {

/// Blocks of a model that are the same again, one after the other: each reads what the one before
/// made. They are drawn as one box until one or all are unfolded. A value.
struct BlockRun
{
    std::vector<std::string> paths; ///< of the blocks' modules, in graph order
    std::size_t modules = 1; ///< how many of the paths make one block
    /// Operators of the module around them that belong to a block, with the block's number.
    std::vector<std::pair<NodeId, std::size_t>> glue;
    TurnLists lists; ///< that modules of the blocks were taken from
    std::string key; ///< "model.layers.0–11 ×12": all are unfolded where it is among the open paths
    friend bool operator==(const BlockRun&, const BlockRun&) = default;
};
using BlockRuns = std::vector<BlockRun>;
using BlockRunsPtr = std::shared_ptr<const BlockRuns>;

/// The runs of three blocks and more, among what runs in one module after the other. A block is a
/// module with more than one operator inside, a fused unit, or several modules beside each other
/// that come again in the same order and wiring (Conv, ReLU, Conv, ReLU...), with the operators of
/// the module around them that stand between
/// (`x = x + attn(x); x = x + mlp(x)`); those of a run stand beside each other in one module or in
/// lists that it runs in turn (`zip(self.convs, self.norms)`), and no value goes from one of them
/// through other nodes to a later one.
BlockRuns findBlockRuns(const Graph& graph, const FoldTree& tree, const RepeatedModules& repeats);

/// The entry is a block of the run or a part of one. For every form of the model.
bool isPartOf(const BlockRun& run, const Graph& graph, const FoldTree& tree, int entry);

/// The float node that a node of any form came from; itself in the float form.
inline NodeId originOf(const Node& node)
{
    return node.origin ? node.origin : node.id;
}

/// The tree with a new module around the blocks of every run: around all of them if its key is
/// among `open`, else around those between the blocks that are open themselves. Entries keep their
/// indices; the boxes come after them, with their key as path. `tree` itself where there is nothing
/// to group. For every form of the model that the runs are of.
FoldTreePtr groupedTree(const Graph& graph, const FoldTreePtr& tree, const BlockRuns& runs,
                        const std::set<std::string>& open);

} // namespace qs

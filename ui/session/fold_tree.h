// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/graph.h"
#include "engine/graph/text/node_titles.h"
#include "engine/plan/plan.h"
#include "engine/plan/wrapped_scopes.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// One row of the module tree and one thing the graph can draw: a module with more than one
/// operator inside, or a unit, which is an operator, a fused group, an input or the output.
struct FoldEntry
{
    enum class Kind
    {
        Module,
        Unit,
        Input,
        Output
    };
    Kind kind = Kind::Unit;
    int parent = -1;
    std::vector<int> children; ///< in graph order
    std::string path; ///< module path: of the module itself, of a unit's innermost common module
    std::string label; ///< "layer2", "conv1·bn1·relu"
    std::string title; ///< displayed: `NodeTitles` of a unit, the path of a module
    std::string className; ///< "Sequential", "Conv2d"; may be empty
    std::span<const NodeId> members; ///< of a unit, in graph order, in the tree's list of nodes
    std::string wrap; ///< of a wrapped module (one node): its name in the recipe
    int units = 0; ///< operators and groups inside; 1 for a unit
    int repeats = 0; ///< of a box around repeated blocks: number of blocks
    std::size_t order = 0; ///< position of the first node
    /// Its range in the tree's list of nodes; for a box see `FoldTree::nodesOf`.
    std::uint32_t firstNode = 0, lastNode = 0;
    bool isModule() const { return kind == Kind::Module; }
};

/// The module hierarchy over one graph as the window shows it: modules that hold a single unit are
/// drawn as that unit; fused members of a plan are one unit; parameters, constants and values
/// computed only from them belong to their reader. Immutable; any thread.
class FoldTree
{
public:
    /// `plan` may be null: then every operator is its own unit. A wrapped method becomes a separate
    /// module inside its module, under the path "head.post_process()".
    static std::shared_ptr<const FoldTree> build(const Graph& graph, const Plan* plan,
                                                 const std::vector<WrappedScope>& wraps = {});

    std::size_t size() const { return m_ungrouped ? m_grouped.size() : m_entries.size(); }
    const FoldEntry& entry(int index) const
    {
        return m_ungrouped ? *m_grouped[std::size_t(index)] : m_entries[std::size_t(index)];
    }
    static constexpr int kRoot = 0;
    /// The unit of a node; -1 for parameters and constants.
    int unitOf(NodeId id) const;
    /// The entry of a module; if it was dissolved into its only unit, that unit; -1 if unknown.
    int moduleEntry(const std::string& path) const;
    /// All nodes below an entry, unit by unit in graph order.
    std::vector<NodeId> nodesOf(int entry) const;
    bool isWithin(int entry, int ancestor) const;
    /// The tree from which `groupedTree` made this one; this tree if nothing was grouped.
    const FoldTree& ungrouped() const { return m_ungrouped ? *m_ungrouped : *this; }
    /// The children of a box, block by block; empty for anything else.
    std::vector<std::span<const int>> blocksOf(int box) const;

private:
    friend class FoldTreeBuilder;
    friend class FoldTreeGrouper;
    std::vector<FoldEntry> m_entries;
    std::vector<NodeId>
        m_nodes; ///< members of all units, depth first: those of an entry are contiguous
    std::vector<int> m_unitOf; ///< by the value of the node's id; -1
    std::unordered_map<std::string, int> m_byPath;
    // A grouped tree holds only differences; the rest is read from the tree it was made from.
    std::shared_ptr<const FoldTree> m_ungrouped;
    std::vector<const FoldEntry*> m_grouped; ///< its entries: the other tree's or of `m_own`
    std::deque<FoldEntry> m_own; ///< the changed and the added ones
    std::unordered_map<int, std::vector<std::size_t>> m_blockEnds; ///< by box, in its children
};
using FoldTreePtr = std::shared_ptr<const FoldTree>;

/// "head" for "head.post_process()": the module that an entry's path names or lies in.
std::string moduleOfPath(const std::string& entryPath);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Sets of values that may alias, derived from the operators' schemas (views and in-place results).
/// Conservative: sets may be too large, never too small. They grow with each executed node: a list
/// of two tensors merges their sets; a list built after an in-place write does not alias the old
/// value.
class AliasSets
{
public:
    /// The sets after the first `count` nodes. `graph` must outlive this object.
    AliasSets(const Graph& graph, std::size_t count);
    explicit AliasSets(const Graph& graph)
        : AliasSets(graph, graph.nodes().size())
    {
    }
    /// Advances to the state after the first `count` nodes.
    void advance(std::size_t count);

    /// All values that may alias `ref`, itself included, in graph order.
    const std::vector<ValueRef>& members(ValueRef ref) const;

private:
    void join(ValueRef a, ValueRef b);
    bool isBefore(ValueRef a, ValueRef b) const;

    const Graph* m_graph;
    std::size_t m_count = 0; ///< number of nodes processed
    std::unordered_map<ValueRef, std::size_t> m_setOf;
    std::vector<std::vector<ValueRef>> m_sets; ///< empty if merged into another
};

/// Calls the visitor for every written value in graph order, with the values that may alias it when
/// the writing node runs.
void forEachWrite(
    const Graph& graph,
    const std::function<void(const Node& writer, const std::vector<ValueRef>& changed)>& call);

/// Returns values that the node's outputs may alias although the operator's schema does not declare
/// it: many composite operators return their input or a view of it in trivial cases. `graph`
/// contains the node.
std::vector<ValueRef> undeclaredAliases(const Graph& graph, const Node& node);

/// Returns the positions of the arguments that the operator writes to; empty if it writes to none
/// or is unknown.
std::vector<std::size_t> writtenArguments(const Node& node);

/// False if the operator modifies only a tensor's autograd state (`detach_`).
bool writesValues(const Node& node);

/// True if an operator of the graph writes to an argument; if false, no alias sets are needed. Does
/// not check nodes inside bodies.
bool hasWrites(const Graph& graph);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <functional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Sets of a graph's values that may share memory, by the operators' schemas (views and in-place
/// results). Conservative: sets may be too large, never too small. They grow as the nodes run: a
/// list that holds two tensors joins them (it shares memory with both); a list built after an
/// in-place write does not alias the old value.
class AliasSets
{
public:
    /// As they are when the first `count` nodes of the graph, which must outlive this, have run.
    AliasSets(const Graph& graph, std::size_t count);
    explicit AliasSets(const Graph& graph)
        : AliasSets(graph, graph.nodes().size())
    {
    }
    /// Lets further nodes run, up to the first `count`.
    void advance(std::size_t count);

    /// All values that may share memory with `ref`, itself included, in graph order.
    const std::vector<ValueRef>& members(ValueRef ref) const;

private:
    void join(ValueRef a, ValueRef b);
    bool isBefore(ValueRef a, ValueRef b) const;

    const Graph* m_graph;
    std::size_t m_count = 0; ///< nodes that have run
    std::unordered_map<ValueRef, std::size_t> m_setOf;
    std::vector<std::vector<ValueRef>> m_sets; ///< empty where joined with another
};

/// Calls for every value that a node of the graph writes to, in order, with the values that may
/// share memory with it when that node runs.
void forEachWrite(
    const Graph& graph,
    const std::function<void(const Node& writer, const std::vector<ValueRef>& changed)>& call);

/// Values that the node's outputs may share memory with although the operator's schema does not
/// declare it: many composite operators return their input, or a view of it, in trivial cases.
/// `graph` holds the node.
std::vector<ValueRef> undeclaredAliases(const Graph& graph, const Node& node);

/// Positions among the node's arguments of those the operator writes to; empty for operators that
/// write to nothing or are unknown.
std::vector<std::size_t> writtenArguments(const Node& node);

/// True unless the operator writes only to a tensor's autograd state (`detach_`).
bool writesValues(const Node& node);

/// True if an operator of the graph writes to an argument; without one no alias sets are needed.
/// Nodes inside bodies are not checked.
bool hasWrites(const Graph& graph);

} // namespace qs

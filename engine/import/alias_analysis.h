// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <unordered_map>
#include <vector>

namespace qs {

/// Which values of a graph may share memory, from what the operators' schemas say about views and
/// in-place results. Conservative: sets may be too large, never too small.
class AliasSets
{
public:
    explicit AliasSets(const Graph& graph);

    /// All values that may share memory with `ref`, itself included, in graph order.
    const std::vector<ValueRef>& members(ValueRef ref) const;

private:
    std::unordered_map<ValueRef, std::size_t> m_setOf;
    std::vector<std::vector<ValueRef>> m_sets;
};

/// Positions among the node's arguments of those the operator writes to; empty for operators that
/// write to nothing or are unknown.
std::vector<std::size_t> writtenArguments(const Node& node);

/// True unless the operator writes only to what autograd knows of a tensor (`detach_`).
bool writesValues(const Node& node);

/// Whether any node of the graph has an operator that writes to an argument: what needs no alias
/// sets where none has. Nodes inside bodies are not looked at.
bool hasWrites(const Graph& graph);

} // namespace qs

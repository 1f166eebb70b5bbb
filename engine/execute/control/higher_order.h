// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/node_runner.h"

#include <string_view>

namespace qs {

/// An argument of a higher-order node names one of `Node::subgraphs` by this prefix and the index.
inline constexpr std::string_view kSubgraphPrefix = "subgraph:";

/// True for supported operators that run subgraphs (cond, while_loop, map, scan, autocast, our
/// regions) or another operator (out_dtype).
bool isHigherOrder(std::string_view target);

/// Runs such a node; `args`: its arguments as values, subgraphs as their names.
Result<std::vector<at::IValue>> runHigherOrder(const Node& node,
                                               const std::vector<at::IValue>& args,
                                               const RunSubgraph& runSubgraph);

} // namespace qs

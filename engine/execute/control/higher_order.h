// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/node_runner.h"

#include <string_view>

namespace qs {

/// How an argument of a higher-order node names one of `Node::subgraphs`: this and the index.
inline constexpr std::string_view kSubgraphPrefix = "subgraph:";

/// True for operators that run subgraphs and that we can run: cond, while_loop, map, scan,
/// autocast, our regions; and out_dtype, which runs another operator.
bool isHigherOrder(std::string_view target);

/// Runs one; `args` are the node's arguments as values (subgraphs as their names).
Result<std::vector<at::IValue>> runHigherOrder(const Node& node,
                                               const std::vector<at::IValue>& args,
                                               const RunSubgraph& runSubgraph);

} // namespace qs

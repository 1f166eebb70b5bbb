// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/node_runner.h"

#include <string_view>

namespace qs {

/// Several nodes kept together because they change values in place through views; runs its one
/// subgraph on private copies of the arguments that it writes to. Arguments: `operands` (list) and
/// `written` (list of positions in operands).
inline constexpr std::string_view kRegionTarget = "quantscope.region.default";

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

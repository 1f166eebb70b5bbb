// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/plan/plan.h"

#include <span>
#include <string>
#include <vector>

namespace qs {

/// The names that a user may call a node by.
struct NodeNames
{
    std::string name; ///< the graph's: "relu_2"
    std::vector<std::string> titles; ///< its own, its fusion's: "block1.conv2 + bn2"
    std::string module; ///< path
};

/// Positions in the list of the nodes that a user may mean by `text`: those within a module of that
/// path, then those of that title, then that of that name. The last is the likeliest. Errors:
/// Usage, with the nearest name.
Result<std::vector<std::size_t>> nodesNamed(std::span<const NodeNames> nodes,
                                            const std::string& text);

/// The node that a user names. For a fusion or a module it is the last operator, whose value they
/// pass on. Errors: as `nodesNamed`.
Result<NodeId> namedNode(const Graph& graph, const Plan& plan, const std::string& text);

} // namespace qs

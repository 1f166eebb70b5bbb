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

/// Indices into `nodes` of the nodes that `text` may name: nodes in a module of that path, then
/// nodes of that title, then the node of that name. The last is the most likely. Errors:
/// Usage, with the nearest name.
Result<std::vector<std::size_t>> nodesNamed(std::span<const NodeNames> nodes,
                                            const std::string& text);

/// The node that a user names. For a fusion or a module it is the last operator, whose value they
/// pass on. Errors: as `nodesNamed`.
Result<NodeId> namedNode(const Graph& graph, const Plan& plan, const std::string& text);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/plan/plan.h"

#include <span>
#include <string>
#include <vector>

namespace qs {

/// The names by which a user may refer to a node.
struct NodeNames
{
    std::string name; ///< the graph's: "relu_2"
    std::vector<std::string> titles; ///< titles of the node and its fusion: "block1.conv2 + bn2"
    std::string module; ///< path
};

/// Indices into `nodes` of the nodes that `text` may name: nodes in the module with that path, then
/// nodes with that title, then the node with that name. The last one is the most likely. Errors
/// (Usage, with the nearest name): no node has that name.
Result<std::vector<std::size_t>> nodesNamed(std::span<const NodeNames> nodes,
                                            const std::string& text);

/// The node that a user names; for a fusion or a module, its last operator, whose value it returns.
/// Errors: as `nodesNamed`.
Result<NodeId> namedNode(const Graph& graph, const Plan& plan, const std::string& text);

} // namespace qs

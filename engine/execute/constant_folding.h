// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/node_runner.h"
#include "engine/graph/graph.h"

#include <vector>

namespace qs {

/// For each position of `graph.nodes()`: whether the node's values do not depend on inputs. True
/// for parameters, constants, and operators that read only such values, do not write to arguments,
/// draw no random numbers and are not opaque. `calls`: by position.
std::vector<bool> findConstantNodes(const Graph& graph, const std::vector<NodeCall>& calls);

/// For each position: whether a node that is not constant reads the node's values.
std::vector<bool> findReadByOthers(const Graph& graph, const std::vector<bool>& constant);

} // namespace qs

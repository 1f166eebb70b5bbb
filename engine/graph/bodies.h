// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// Returns the role of a body of a node (`Node::subgraphs`): "if true", "otherwise" (cond),
/// "while", "do" (loop), "forward" (custom module); else the body's own name, or "body 2".
std::string bodyTitle(const Node& node, std::size_t index);

/// Number of the graph's operators; operators inside bodies are not counted.
std::size_t operatorCount(const Graph& graph);

/// Returns the body as lines of a Python function of that name, not indented. Nested bodies become
/// functions printed before their callers.
std::vector<std::string> bodyCode(const Graph& body, const std::string& functionName);

/// "cond_if_true": the function name of a body whose node is called `nodeName` in the code.
std::string bodyFunction(const Node& node, std::size_t index, const std::string& nodeName);

} // namespace qs

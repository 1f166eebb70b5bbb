// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Checks that a .pt2 can hold the graph's calls on objects of C++ classes: calls may take objects
/// but not return one, which torch.export cannot load. Errors (Unsupported) name the node.
Result<void> checkPt2Objects(const Graph& graph);

/// The graph with methods of C++ classes called as torch.export does (`call_torchbind`).
Graph withMethodCalls(const Graph& graph);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Whether a .pt2 can hold what the graph does with objects of C++ classes: its calls take them and
/// never give one, since torch.export loads no such call. Errors (Unsupported) name the node.
Result<void> checkPt2Objects(const Graph& graph);

/// Methods of C++ classes as torch.export calls them (`call_torchbind`).
Graph withMethodCalls(const Graph& graph);

} // namespace qs

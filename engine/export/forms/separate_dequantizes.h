// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

namespace qs {

/// The graph with a separate dequantize for each node that reads a dequantized value, as PT2E
/// passes its form to compilers (torchao's DuplicateDQPass): these fuse a quantized operator with
/// the steps around it, and two operators cannot both fuse a shared step. If several linear layers
/// (the queries, keys and values of attention) and another node (a residual) read a value of more
/// than two dimensions, the other node's dequantize sets `out_dtype`, which keeps Inductor from
/// joining them again. The outputs are bitwise equal. The first reader keeps the original node.
/// Fails only if cancelled.
Result<Graph> separateDequantizes(const Graph& graph, const JobContext& job = {});

} // namespace qs

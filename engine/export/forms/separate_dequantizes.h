// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

namespace qs {

/// The graph with a separate dequantize for each node that reads a dequantized value, as PT2E
/// passes its form to compilers (torchao's DuplicateDQPass): these fuse a quantized operator with
/// the steps around it, and two operators cannot both fuse a shared step. Where several linear
/// layers read rows of rows (the queries, keys and values of attention) and a residual reads them
/// too, the latter's says `out_dtype`, which keeps Inductor from joining them again. Same outputs,
/// to the bit. The first reader keeps the node that was there. Errors: Cancelled.
Result<Graph> separateDequantizes(const Graph& graph, const JobContext& job = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// The graph with a dequantize of its own for each node that reads a dequantized value, as PT2E
/// hands its form to compilers (torchao's DuplicateDQPass): these take a quantized operator with
/// the steps around it, and two that share one cannot both take it. Where several linear layers
/// read rows of rows (the queries, keys and values of attention) and a residual reads them too, the
/// latter's says `out_dtype`, which keeps Inductor from joining them again. Same outputs, to the
/// bit. The first reader keeps the node that was there.
Graph separateDequantizes(const Graph& graph);

} // namespace qs

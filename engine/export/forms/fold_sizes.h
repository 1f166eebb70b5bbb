// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

namespace qs {

/// The graph with sizes of tensors of fixed shape, and arithmetic on them, as plain numbers: the
/// form a .pt2 of fixed shapes has. Sizes with an expression stay. Errors: a division by zero or an
/// overflow in that arithmetic.
Result<Graph> foldSizes(const Graph& graph, const JobContext& job = {});

} // namespace qs

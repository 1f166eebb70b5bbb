// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Replaces in-place operators on values without live aliases by their functional variants
/// (`aten.relu_.default` by `aten.relu.default`), keeping module, source and id; `originalTarget`
/// records the file's target. Consumers after the mutation read the new value. If a live view
/// observes a mutation, the nodes involved move unchanged into an opaque region
/// (`foldMutationRegions`). If the graph has writes, operators that lost their last consumer are
/// removed. Errors: those of `foldMutationRegions`; Cancelled.
Result<Graph> functionalize(const Graph& graph, const JobContext& job = {});

} // namespace qs

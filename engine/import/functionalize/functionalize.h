// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Turns in-place operators on values without live aliases into their functional twins
/// (`aten.relu_.default` to `aten.relu.default`), keeping module, source and id; `originalTarget`
/// remembers the file's spelling. Readers after the mutation read the new value. A mutation seen
/// through a live view moves the nodes concerned into an opaque region that runs them as they are
/// (`foldMutationRegions`). If anything was written, operators that lost their last consumer are
/// removed. Errors: those of a region; a cancel.
Result<Graph> functionalize(const Graph& graph, const JobContext& job = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Checks the invariants: unique ids and names, every reference points at an earlier node's
/// existing output, exactly one Output and it is last, parameters and constants have a tensor key,
/// no in-place operator (torch's trailing underscore) outside opaque nodes. Run after every pass.
/// Errors: Internal, which names the node; Cancelled.
Result<void> verifyGraph(const Graph& graph, const JobContext& job = {});

} // namespace qs

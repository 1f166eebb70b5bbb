// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace qs {

/// True when the graph, or one inside it, does not say of every tensor which shape and element type
/// it has.
bool lacksShapes(const Graph& graph);

/// The graph with the shapes and element types that one run on `inputs` shows; inputs get those of
/// the data. Sizes that come out of data stay as they were seen; a branch that was not taken stays
/// as it is, and of a loop the first round tells. A graph that says all is returned as it is.
/// Errors: what running it says.
Result<Graph> withShapes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                         const JobContext& job = {});

/// Tensors of the graph and of those inside it whose element type nothing tells.
std::size_t countUntyped(const Graph& graph);

/// The graph with those element types, and their numbers of dimensions, as one run on `inputs`
/// shows them; sizes stay open. A branch that was not taken stays as it is. Errors: what running it
/// says.
Result<Graph> withTypes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                        const JobContext& job = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace qs {

/// True if a tensor of the graph, or of one inside it, lacks its shape or element
/// type.
bool lacksShapes(const Graph& graph);

/// The graph with the shapes and element types that one run on `inputs` observes; inputs get those
/// of the data. Sizes that depend on data stay as observed; a branch that was not taken stays
/// unchanged, a loop has the types of its first round. A graph that lacks none is returned
/// unchanged. Errors: those of the run.
Result<Graph> withShapes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                         const JobContext& job = {});

/// Number of tensors without an element type, in the graph and in those inside it.
std::size_t countUntyped(const Graph& graph);

/// The graph with those element types, and their numbers of dimensions, as one run on `inputs`
/// shows them; sizes stay open. A branch that was not taken stays as it is. Errors: those of the
/// run.
Result<Graph> withTypes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                        const JobContext& job = {});

} // namespace qs

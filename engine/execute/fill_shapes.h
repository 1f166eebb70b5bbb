// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace qs {

/// True if a tensor of the graph, or of a graph inside it, has no shape or no element type.
bool lacksShapes(const Graph& graph);

/// The graph with the shapes and element types that one run on `inputs` observes; inputs get those
/// of the data. Sizes that depend on the data are those observed. A branch that was not taken is
/// unchanged; a loop has the types of its first iteration. Returns a graph without missing types
/// unchanged. Errors: those of the run.
Result<Graph> withShapes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                         const JobContext& job = {});

/// Number of tensors without an element type, in the graph and in those inside it.
std::size_t countUntyped(const Graph& graph);

/// The graph with missing element types, and the numbers of dimensions, as one run on `inputs`
/// observes them; sizes stay open. A branch that was not taken is unchanged. Errors: those of the
/// run.
Result<Graph> withTypes(const GraphPtr& graph, const std::vector<at::IValue>& inputs,
                        const JobContext& job = {});

} // namespace qs

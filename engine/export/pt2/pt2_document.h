// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/export/pt2/pt2_arguments.h"
#include "engine/export/pt2/pt2_weights.h"
#include "engine/graph/operators/state.h"

namespace qs {

/// The model record of a `.pt2`: an exported program with the graph's nodes, and with the calling
/// convention, range constraints and guards of the file that the model came from. A model from
/// another format gets flat inputs and outputs. Errors name the node.
Result<Pt2Json> pt2Document(const Graph& graph, const Pt2WeightRecords& weights,
                            const std::vector<StateUpdate>& updates, const JobContext& job = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/stage_chain.h"
#include "engine/pipeline/tune/tune.h"

#include <unordered_map>

namespace qs {

struct CleanBatch;

/// Times a batch on the CPU, node by node, in the float model and in the calibration's lowered
/// form: the mean of three runs after a warm-up. Returns an entry for each unit that the plan
/// quantizes, by id, and one without an operator for all other nodes. `model`: the float model.
/// Errors: those of the conversion; nothing could be lowered (Unsupported); Cancelled.
Result<std::vector<UnitTime>> measureTimes(StageChain& chain, const GraphPtr& model,
                                           const ConvertRequest& request, const Batch& batch,
                                           const JobContext& job);

/// Total time of the units in milliseconds: int8 times for those that the plan quantizes, else
/// float times. Operators that cures added are not counted.
double totalMs(const std::vector<UnitTime>& times, const Graph& model, const Plan& plan);

/// Extra time of each operator in float, in milliseconds, by `groupRoot`; 0 if float is as fast.
std::unordered_map<NodeId, double> addedMs(const std::vector<UnitTime>& times);

} // namespace qs

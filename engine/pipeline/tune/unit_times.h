// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/stage_chain.h"
#include "engine/pipeline/tune/tune.h"

#include <unordered_map>

namespace qs {

struct CleanBatch;

/// Times a batch on the CPU, node by node, in the float model and in the lowered form of the
/// calibration: the mean of three runs after one that warms up. An entry for each unit that the
/// plan quantizes, in the order of ids; one without an operator for all other nodes. `model`: the
/// float model. Errors: conversion's; Unsupported where nothing could be lowered; a cancel.
Result<std::vector<UnitTime>> measureTimes(StageChain& chain, const GraphPtr& model,
                                           const ConvertRequest& request, const Batch& batch,
                                           const JobContext& job);

/// What the units of a model take in all: those that the plan quantizes as integers, the others as
/// floats. Milliseconds; operators that cures added are not counted.
double totalMs(const std::vector<UnitTime>& times, const Graph& model, const Plan& plan);

/// What each operator takes longer as float, by `groupRoot`; 0 where float is as fast.
std::unordered_map<NodeId, double> addedMs(const std::vector<UnitTime>& times);

} // namespace qs

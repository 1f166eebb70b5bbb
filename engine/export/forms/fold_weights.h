// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// The compact form of a reference graph. Weights are stored as integers and dequantized where they
/// are read. Quantize-dequantize steps without effect are removed: those that quantize again with
/// the same parameters, and those without consumers. The outputs are bitwise equal.
Result<Graph> foldWeights(const Graph& reference, const JobContext& job = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// The compact form of a reference graph: weights are held as the integers they become, dequantized
/// where they are read, and quantize-dequantize steps without effect (the integers are quantized
/// again with the same parameters, or the result has no consumer) are removed. Same outputs, to the
/// bit.
Result<Graph> foldWeights(const Graph& reference, const JobContext& job = {});

} // namespace qs

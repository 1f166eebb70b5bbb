// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// A value of the float model and its counterpart in a quantized model.
struct ValueMatch
{
    ValueRef floating, converted;
};

struct ModelMatch
{
    std::vector<ValueMatch> values; ///< in the float model's order
    std::vector<std::string> unmatchedFloat, unmatchedConverted; ///< names of operators, in order
};

/// Matches the values of a quantized model of any origin (PT2E, torch.ao, our exports) with those
/// of the float model: first operators of equal kind in equal modules, then by order (longest
/// common subsequence). A fused operator matches the last of the operators fused in it; a
/// convolution or linear layer matches the batch norm that is folded into it. If a value is
/// quantized after its operator, the value after the dequantize is matched. Errors: Cancelled.
Result<ModelMatch> matchModels(const Graph& floating, const Graph& converted,
                               const JobContext& job);

} // namespace qs

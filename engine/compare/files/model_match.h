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

/// Finds, for a quantized model of another origin (PT2E, torch.ao, an export of ours), which of its
/// values match which of the float model's: operators of one kind in one module first, then by the
/// order of operators (longest common subsequence). A fused operator matches its last part, a
/// convolution or a linear layer the batch norm that is folded into it; a value that is quantized
/// after its operator is taken after its dequantize. Errors: Cancelled.
Result<ModelMatch> matchModels(const Graph& floating, const Graph& converted,
                               const JobContext& job);

} // namespace qs

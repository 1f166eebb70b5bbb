// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

class StageChain;

/// The smallest and the largest value of each channel of a weight (or of each group), as its
/// observer sees it: with a batch norm folded in. A value.
struct WeightRanges
{
    std::vector<float> low, high;
    friend bool operator==(const WeightRanges&, const WeightRanges&) = default;
};

/// The ranges of the weights that are quantized by channel, by the name of their operator, without
/// the recipe's cures that change the model (`modelCures`). Empty without such cures. Errors: those
/// of the stages; Cancelled.
Result<std::map<std::string, WeightRanges>> uncuredWeights(StageChain& chain, const GraphPtr& file,
                                                           const Recipe& recipe,
                                                           const JobContext& job);

} // namespace qs

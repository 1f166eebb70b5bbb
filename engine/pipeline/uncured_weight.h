// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"

#include <optional>
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

/// The ranges of an operator's weight without the recipe's cures that change the model
/// (`modelCures`). `node`: the operator's name in the model's file. nullopt without such cures, and
/// if the model without them has no such operator with a quantized weight by channel. Errors: those
/// of the stages; Cancelled.
Result<std::optional<WeightRanges>> uncuredWeight(StageChain& chain, const GraphPtr& file,
                                                  const Recipe& recipe, const std::string& node,
                                                  const JobContext& job);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/plan/plan.h"
#include "engine/prepare/weighted_op.h"

#include <optional>
#include <unordered_map>

namespace qs {

/// Maps values of the float graph to values of the rewritten graph.
using ValueMap = std::unordered_map<ValueRef, ValueRef>;

/// A convolution or linear, and the batch norm that can be folded into it.
struct FoldablePair
{
    NodeId conv, batchNorm;
    WeightedOp op;
    WeightPath weight;
};

/// The first pair of a group whose batch norm still has to be folded; empty without one.
std::optional<FoldablePair> foldablePair(const GraphEdit& edit, const MatchGroup& group);

/// Folds the batch norms of the plan's fused groups into the convolution or linear before them,
/// with the arithmetic order of torch.nn.utils.fusion, so that the folded weights are bitwise equal
/// to torch.ao's. The convolution keeps its id and gets new parameters as weight and bias. The
/// batch norm is removed; `valueOf` maps its value to the convolution's. A batch norm that cannot
/// be folded (its input has other readers, or its statistics are computed) stays. Returns whether
/// anything changed.
Result<bool> fuseConvBn(GraphEdit& edit, const Plan& plan, ValueMap& valueOf);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/plan/plan.h"

#include <unordered_map>

namespace qs {

/// Where the values of the float graph live after a rewrite.
using ValueMap = std::unordered_map<ValueRef, ValueRef>;

/// Folds the batch norms of the plan's fused groups into the convolution or linear before them,
/// with the arithmetic order of torch.nn.utils.fusion, so that the folded weights are bit-equal to
/// torch.ao's. The convolution keeps its id; its weight and bias become new parameters; the batch
/// norm disappears and its value is from then on the convolution's (recorded in `valueOf`). A batch
/// norm that cannot be folded (its input has other readers, or its statistics are computed) stays.
/// Returns whether anything changed.
Result<bool> fuseConvBn(GraphEdit& edit, const Plan& plan, ValueMap& valueOf);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/plan/plan.h"

#include <unordered_map>

namespace qs {

/// Maps values of the float graph to values of the rewritten graph.
using ValueMap = std::unordered_map<ValueRef, ValueRef>;

/// Folds the batch norms of the plan's fused groups into the convolution or linear before them,
/// with the arithmetic order of torch.nn.utils.fusion, so that the folded weights are bitwise equal
/// to torch.ao's. The convolution keeps its id and gets new parameters as weight and bias. The
/// batch norm is removed; `valueOf` maps its value to the convolution's. A batch norm that cannot
/// be folded (its input has other readers, or its statistics are computed) stays. Returns whether
/// anything changed.
Result<bool> fuseConvBn(GraphEdit& edit, const Plan& plan, ValueMap& valueOf);

} // namespace qs

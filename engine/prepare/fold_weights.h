// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/plan/plan.h"

namespace qs {

/// Makes a stored weight of each that the plan observes as a layer's own and that operators compute
/// of stored tensors alone, as weight_norm does. `model`: the graph that is edited, as it was.
/// Returns whether there was one.
Result<bool> foldWeights(GraphEdit& edit, const GraphPtr& model, const Plan& plan);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/plan/plan.h"

namespace qs {

/// Replaces each layer's weight that the plan observes and that operators compute from stored
/// tensors alone (weight_norm) by a stored one. `model`: the graph before the edit. Returns whether
/// there was one.
Result<bool> foldWeights(GraphEdit& edit, const GraphPtr& model, const Plan& plan);

} // namespace qs

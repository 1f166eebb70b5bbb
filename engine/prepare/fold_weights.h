// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/plan/plan.h"

namespace qs {

/// Replaces each observed weight that operators compute only from stored tensors (weight_norm) by a
/// stored weight. `model`: the graph before the edit. Returns whether anything changed.
Result<bool> foldWeights(GraphEdit& edit, const GraphPtr& model, const Plan& plan);

} // namespace qs

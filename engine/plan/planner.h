// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

namespace qs {

/// Decides for every node: its pattern of the backend, the winning rule and qconfig, whether the
/// backend can run them, which values are observed and which share an observer (torch.ao
/// `prepare_fx`). Pure; never fails on a model: an operator that cannot be quantized stays float,
/// with a reason. Errors: an unknown object type in a rule, a bad regex; a cancel.
Result<Plan> makePlan(const Graph& graph, const Recipe& recipe, const Backend& backend,
                      const JobContext& job = {});

} // namespace qs

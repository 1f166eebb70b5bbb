// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

namespace qs {

/// Decides for every node: which pattern of the backend it belongs to, which rule and qconfig win,
/// whether the backend can run that, which values are observed and which observers are one
/// (torch.ao `prepare_fx`). Pure; never fails on a model: what cannot be quantized stays float with
/// a reason. Errors: an unknown object type in a rule, a bad regex; a cancel.
Result<Plan> makePlan(const Graph& graph, const Recipe& recipe, const Backend& backend,
                      const JobContext& job = {});

} // namespace qs

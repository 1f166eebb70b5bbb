// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// All forms of a model that nobody calibrated, to be read rather than run: every observer gets
/// scale 1, marked as not calibrated; fixed parameters are real. No
/// kernel is checked. Errors: those of `prepareModel` and `convertModel`.
Result<ConvertedPtr> outlineConversion(GraphPtr model, PlanPtr plan, const Recipe& recipe,
                                       const JobContext& job = {});

} // namespace qs

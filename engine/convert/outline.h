// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// All forms of a model without calibration, for display only: every observer has scale 1 and is
/// marked as not calibrated; fixed parameters are real. Kernels are not checked. Errors: those of
/// `prepareModel` and `convertModel`.
Result<ConvertedPtr> outlineConversion(GraphPtr model, PlanPtr plan, const Recipe& recipe,
                                       const JobContext& job = {});

} // namespace qs

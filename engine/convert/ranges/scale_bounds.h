// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/qparams.h"
#include "engine/plan/plan.h"

namespace qs {

/// Returns findings for chosen scales outside the bounds of the backend's dtype config
/// (`scale_min_lower_bound`, `scale_max_upper_bound`), one finding for each input, output and
/// weight of a quantized operator, in graph order. torch.ao compares only the observer's eps, and
/// ignores the upper bound.
std::vector<PlanFinding> scaleBoundFindings(const Graph& model, const Plan& plan,
                                            const QParamsTable& qparams);

} // namespace qs

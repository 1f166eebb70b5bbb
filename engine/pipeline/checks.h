// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/convert/qparams.h"
#include "engine/pipeline/stages.h"
#include "engine/plan/plan.h"

#include <string>
#include <vector>

namespace qs {

/// Refuses a model that is already quantized.
Result<void> checkFloat(const Graph& model);

/// Refuses a plan that quantizes nothing; the error gives the main reason and the remedy.
Result<void> checkCoverage(const Graph& model, const Plan& plan);

/// Findings of a plan that `--strict` refuses: warnings (such as rules and lowering rows without
/// effect) and dropped qconfigs, one line each, in order.
std::vector<std::string> strictFindings(const Graph& model, const Plan& plan);

/// Refuses parameters of observers that never saw a value, naming the float nodes, except those in
/// `waived`, for which it warns: they quantize with scale 1 and zero point 0.
Result<void> checkCalibrated(const Graph& model, const Plan& plan, const QParamsTable& qparams,
                             const std::vector<std::string>& waived);

/// The plan's findings on the values of `Calibration::notFinite`, in graph order: decisions of the
/// calibration that its recipe does not state.
std::vector<PlanFinding> notFiniteFindings(const Calibration& calibration);

} // namespace qs

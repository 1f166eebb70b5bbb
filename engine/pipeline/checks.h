// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/convert/qparams.h"
#include "engine/pipeline/stages.h"
#include "engine/plan/plan.h"

#include <string>
#include <vector>

namespace qs {

/// Refuses a model that holds quantized values already: scales on top of scales would mean nothing.
Result<void> checkFloat(const Graph& model);

/// Refuses a plan that quantizes nothing, with the main reason and what to do about it.
Result<void> checkCoverage(const Graph& model, const Plan& plan);

/// Everything in a plan that `--strict` does not let pass: warnings (rules and lowering rows
/// without effect among them) and dropped qconfigs, one line each, in order.
std::vector<std::string> strictFindings(const Graph& model, const Plan& plan);

/// Refuses parameters of observers that never saw a value, naming the float nodes, except those in
/// `waived`, for which it warns: they quantize with scale 1 and zero point 0.
Result<void> checkCalibrated(const Graph& model, const Plan& plan, const QParamsTable& qparams,
                             const std::vector<std::string>& waived);

/// The plan's findings on the values of `Calibration::notFinite`, in graph order: what a
/// calibration decided and its recipe did not.
std::vector<PlanFinding> notFiniteFindings(const Calibration& calibration);

} // namespace qs

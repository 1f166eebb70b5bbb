// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// Runs both forms whole on one batch, side by side, and measures the difference of each value of
/// the lowered form from the reference form's, and the SQNR of both against the float model. Frees
/// values as soon as all sides were compared. For nodes that stay in reference form, compares
/// quantized values. In the order of the reference form; skips values whose shapes
/// differ.
Result<std::vector<FormDeparture>> departures(const ConvertedModel& converted, const Batch& batch,
                                              const JobContext& job);

} // namespace qs

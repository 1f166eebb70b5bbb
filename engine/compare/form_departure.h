// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// Runs both forms whole on one batch, side by side, and counts how far each value of the lowered
/// form is from the reference form's, and how far both are from the float model's. Values are
/// dropped as soon as all sides have them. Values of nodes that stay in reference form are counted
/// where they are quantized. In the order of the reference form; values whose shapes differ are
/// left out.
Result<std::vector<FormDeparture>> departures(const ConvertedModel& converted, const Batch& batch,
                                              const JobContext& job);

} // namespace qs

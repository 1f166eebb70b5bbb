// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// One sweep over the data: float and reference form side by side, node by node, streaming sums
/// only, so memory grows with neither samples nor layers; then the lowered form's outputs. Device
/// as in `calibrate`; the lowered form runs on the CPU.
Result<ComparisonPtr> compareModels(const ConvertedModel& converted, const Dataset& data,
                                    const std::string& device, const JobContext& job = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// Runs both forms as a whole on one batch, side by side. Measures for each value of the lowered
/// form the difference from the reference form, and the SQNR of both forms against the float model;
/// for nodes that stay in reference form, compares quantized values. Returns them in the order of
/// the reference form; skips values whose shapes differ. Frees values as soon as they were
/// compared.
Result<std::vector<FormDeparture>> departures(const ConvertedModel& converted, const Batch& batch,
                                              const JobContext& job);

} // namespace qs

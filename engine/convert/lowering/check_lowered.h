// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/lowering/lower.h"

namespace qs {

/// Checks the lowered form against the reference form on one batch: each kernel on its inputs in
/// the lowered graph (`checkKernels`), then the outputs of the whole form (`holdOutputs`). Adds
/// kernels that fail to `options.refused` and lowers again without them. Sets `model.checks`. With
/// `written`, which must already be in `options.refused`, refuses no further kernels: the checks
/// report the others on this batch.
Result<void> checkLowered(ConvertedModel& model, const Batch& batch, LoweringOptions& options,
                          LoweredGraph& lowered, const JobContext& job,
                          const std::vector<RefusedKernel>* written = nullptr);

} // namespace qs

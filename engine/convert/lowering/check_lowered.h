// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/lowering/lower.h"

namespace qs {

/// Holds the lowered form to the reference form on one batch: each kernel with what the lowered
/// graph really hands it (`checkKernels`), then the outputs of the whole (`holdOutputs`). Kernels
/// that fail are added to `options.refused`, and `lowered` is made anew without them. Fills
/// `model.checks`. With `written`, which `options.refused` holds already, nothing more is refused:
/// the checks of the others tell how they do on this batch.
Result<void> checkLowered(ConvertedModel& model, const Batch& batch, LoweringOptions& options,
                          LoweredGraph& lowered, const JobContext& job,
                          const std::vector<RefusedKernel>* written = nullptr);

} // namespace qs

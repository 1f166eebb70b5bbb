// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/lowering/kernel_checking.h"
#include "engine/convert/lowering/lower.h"

namespace qs {

/// Checks the lowered form against the reference form on `checking.batch`: each kernel on its
/// inputs in the lowered graph (`checkKernels`), except those whose check is known; then the
/// outputs of the whole form (`holdOutputs`). Adds kernels that fail to `options.refused` and
/// lowers again without them. Sets `model.checks`. With `checking.refused`, which must already be
/// in `options.refused`, refuses no further kernels: the checks report the others on this batch.
Result<void> checkLowered(ConvertedModel& model, const KernelChecking& checking,
                          LoweringOptions& options, LoweredGraph& lowered, const JobContext& job);

} // namespace qs

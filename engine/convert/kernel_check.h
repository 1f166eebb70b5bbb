// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/lower.h"

namespace qs {

/// Feeds every emitted kernel the reference form's quantized inputs from one batch and compares its
/// integers with the reference form's. Within one step everywhere: trusted. A kernel that raises is
/// refused with what it said. Integers are dropped as soon as the last kernel that needs them is
/// done. The result is in the order of `lowered.sites`.
Result<std::vector<KernelCheck>> checkKernels(const GraphPtr& reference,
                                              const LoweredGraph& lowered, const Batch& batch,
                                              const JobContext& job = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/lower.h"
#include "engine/execute/interpreter.h"

namespace qs {

/// Feeds every emitted kernel the reference form's inputs from one batch and compares its results
/// with the reference form's: integers, or float values in steps of an eight-bit grid over their
/// range. Within one step everywhere: trusted. A kernel that chooses its result's parameters itself
/// and comes closer to the float result than the reference form is held to one step of its own
/// grid around that result. A kernel that raises is refused with what it said.
/// Values are dropped as soon as the last kernel that needs them is done. The result is in the
/// order of `lowered.sites`. `loweredRun` runs the lowered graph.
Result<std::vector<KernelCheck>> checkKernels(const GraphPtr& reference,
                                              const LoweredGraph& lowered,
                                              const Interpreter& loweredRun, const Batch& batch,
                                              const JobContext& job = {});

} // namespace qs

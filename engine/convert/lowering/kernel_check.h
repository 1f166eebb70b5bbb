// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/lowering/lower.h"
#include "engine/convert/tensor_form.h"
#include "engine/execute/interpreter.h"

namespace qs {

/// The forms of kernels' inputs in a run of the whole lowered graph, by its values.
using InputForms = std::unordered_map<ValueRef, TensorForm>;

/// The part of a lowered graph to check. Borrows.
struct SitesToCheck
{
    const LoweredGraph& lowered;
    std::vector<std::size_t> sites; ///< indices into `lowered.sites`
    const InputForms& forms; ///< missing: contiguous, with the reference form's parameters
};

struct KernelChecks
{
    std::vector<KernelCheck> checks; ///< in the order of `SitesToCheck::sites`
    std::vector<at::IValue> outputs; ///< the reference form's
};

/// Runs emitted kernels on the reference form's inputs for one batch, laid out and quantized as in
/// the lowered graph (`forms`), and compares their results with the reference form's: integers, or
/// float values in steps of an 8-bit grid over their range. A kernel passes if all differences are
/// at most one step. A kernel that chooses its result's parameters itself and is closer to the
/// float result than the reference form must be within one step of its grid from the float result.
/// A kernel that raises is refused with its message. Values are released after the last kernel that
/// needs them. `referenceRun` runs the reference form, `loweredRun` the lowered graph.
Result<KernelChecks> checkKernels(const Interpreter& referenceRun, const Interpreter& loweredRun,
                                  SitesToCheck wanted, const Batch& batch,
                                  const JobContext& job = {});

} // namespace qs

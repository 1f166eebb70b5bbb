// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/form_errors.h"
#include "engine/convert/lowering/kernel_checking.h"
#include "engine/convert/lowering/lower.h"

#include <ATen/core/ivalue.h>

namespace qs {

/// True if the lowered form must equal the reference form. False if a recurrent kernel quantizes
/// its state at every step, or a pack's kernel its inputs: `checkKernels` checks those against
/// their specification.
bool isComparable(const Graph& lowered);

/// Outputs of both forms for one batch, flat and in order.
struct FormOutputs
{
    std::vector<at::IValue> reference, lowered;
};

/// If an output of the lowered form loses more than in the reference form, finds the responsible
/// kernels by bisection, adds them to `options.refused` with the figures, and lowers again. A loss
/// that no single kernel causes stays; the comparison over all data reports it.
/// Keeps the float model's outputs in `checking.known`.
Result<void> holdOutputs(const ConvertedModel& model, const KernelChecking& checking,
                         LoweringOptions& options, LoweredGraph& lowered,
                         const FormOutputs& outputs, const JobContext& job);

} // namespace qs

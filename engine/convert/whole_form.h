// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/form_errors.h"
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

/// Where an output of the lowered form loses more than the reference form, refuses the kernels that
/// are responsible, found by halves: adds them to `options.refused`, with the figures, and makes
/// `lowered` anew. A loss that no kernel makes alone stays (the comparison, which sees all data,
/// says so).
Result<void> holdOutputs(const ConvertedModel& model, const Batch& batch, LoweringOptions& options,
                         LoweredGraph& lowered, const FormOutputs& outputs, const JobContext& job);

} // namespace qs

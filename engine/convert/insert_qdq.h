// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/quantize_weights.h"

namespace qs {

/// Sets `model.reference`, `referenceValueOf` and `rawValueOf` from the prepared graph and qparams,
/// as torch.ao's `convert_to_reference_fx` does. Every observer with an integer dtype becomes a
/// quantize and a dequantize step; observers of values kept float are removed; observed weights are
/// quantized and dequantized. Half precision becomes a pair of casts. Dynamic observers choose
/// their parameters at run time, over half the range with `reduceRange`, which kernels of x86 and
/// fbgemm need (torch.ao decides by the quantized engine too). `saturation` concerns fixed
/// parameters and does not change nodes or ids.
Result<void> buildReference(ConvertedModel& model, bool reduceRange, const JobContext& job = {},
                            Saturation saturation = Saturation::Storage);

} // namespace qs

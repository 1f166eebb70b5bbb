// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/quantize_weights.h"

namespace qs {

/// Fills `model.reference`, `referenceValueOf` and `rawValueOf` from its prepared graph and
/// qparams: every observer with an integer dtype becomes one quantize and one dequantize, observers
/// around values kept float vanish, observed weights are quantized and dequantized (torch.ao
/// `convert_to_reference_fx`). Half precision is a pair of casts. Dynamic observers choose their
/// parameters at run time, over half the range with `reduceRange`, which x86's and fbgemm's kernels
/// need (torch.ao goes by the quantized engine as well). The nodes and their ids are the same for
/// either `saturation`, which concerns fixed parameters.
Result<void> buildReference(ConvertedModel& model, bool reduceRange, const JobContext& job = {},
                            Saturation saturation = Saturation::Storage);

} // namespace qs

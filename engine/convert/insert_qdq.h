// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// Fills `model.reference`, `referenceValueOf` and `rawValueOf` from its prepared graph and
/// qparams: every observer with an integer dtype becomes one quantize and one dequantize, observers
/// around values kept float vanish, observed weights are quantized and dequantized (torch.ao
/// `convert_to_reference_fx`). Dynamic observers choose their parameters at run time.
Result<void> buildReference(ConvertedModel& model, const JobContext& job = {});

} // namespace qs

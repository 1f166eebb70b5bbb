// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace qs {

/// Returns the largest difference of a kernel inside an LSTM from the reference form, in
/// quantization steps of its output. Runs both forms of the node on the same batch. Each kernel of
/// each cell gets the reference form's values of that step, so that differences do not accumulate
/// over the sequence. `referenceInputs` are the inputs of the reference body (float tensors),
/// `quantizedInputs` those of the lowered body (quantized tensors and packed parameters).
Result<double> compareLstmKernels(const Node& reference, std::vector<at::IValue> referenceInputs,
                                  const Node& lowered, std::vector<at::IValue> quantizedInputs);

} // namespace qs

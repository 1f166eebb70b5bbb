// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace qs {

/// How far, in steps of its output, the farthest kernel inside an LSTM is from the reference form.
/// Runs both forms of the node on the same batch. Each kernel of each cell is fed what the
/// reference form computed at that step, so that differences do not add up over the sequence.
/// `referenceInputs` are the inputs of the reference body (float tensors), `quantizedInputs` those
/// of the lowered body (quantized tensors and packed parameters).
Result<double> compareLstmKernels(const Node& reference, std::vector<at::IValue> referenceInputs,
                                  const Node& lowered, std::vector<at::IValue> quantizedInputs);

} // namespace qs

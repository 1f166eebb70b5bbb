// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace qs {

/// The kernel inside an LSTM that is farthest from the reference form.
struct LstmDifference
{
    double steps = 0; ///< of that kernel's output
    std::string interior; ///< "layers.0.layer_fw.cell.gates"
};

/// Runs both forms of one LSTM node on the same batch. Each kernel of each cell is fed what the
/// reference form computed at that step, so that differences do not add up over the sequence.
/// `referenceInputs` are the inputs of the reference body (float tensors), `quantizedInputs` those
/// of the lowered body (quantized tensors and packed parameters).
Result<LstmDifference> compareLstmKernels(const Node& reference,
                                          std::vector<at::IValue> referenceInputs,
                                          const Node& lowered,
                                          std::vector<at::IValue> quantizedInputs);

} // namespace qs

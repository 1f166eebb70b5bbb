// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace qs {

/// A dynamic recurrent kernel and its operands.
struct RecurrentCall
{
    at::Tensor input; ///< before any quantization
    std::vector<at::Tensor> states; ///< [h] or [h, c]
    std::vector<at::Tensor> params; ///< dequantized: w_ih, w_hh, b_ih, b_hh a layer and direction
    bool reduceRange = false;
};

/// True for kernels that quantize a state at every step, which the reference form, quantizing the
/// input alone, does not show.
bool quantizesStates(const Graph& lowered, const Node& kernel);

/// The specified result of `quantized_lstm` and `quantized_gru`, in float: the input quantized
/// dynamically as a whole, each step's hidden state by itself, layer by layer (LibTorch
/// `QuantizedCellParamsDynamic`). `reference` is the float operator, which gives the form. Outputs
/// as the operator's. May throw c10::Error.
Result<std::vector<at::Tensor>> simulateRecurrence(const Node& reference,
                                                   const RecurrentCall& call);

} // namespace qs

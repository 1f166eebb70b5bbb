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

/// True for kernels that quantize a state at every step. The reference form does not model that: it
/// quantizes only the input.
bool quantizesStates(const Graph& lowered, const Node& kernel);

/// Computes the specified result of `quantized_lstm` and `quantized_gru` in float: quantizes the
/// whole input and each step's hidden state dynamically, layer by layer (LibTorch
/// `QuantizedCellParamsDynamic`). `reference`: the float operator, which gives the kind of layer.
/// Outputs as of that operator. May throw c10::Error.
Result<std::vector<at::Tensor>> simulateRecurrence(const Node& reference,
                                                   const RecurrentCall& call);

} // namespace qs

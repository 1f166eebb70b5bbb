// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/export/onnx/targets/onnx_view.h"

#include <string>

namespace qs {

/// Checks a graph against the rules of NVIDIA's TensorRT guide for explicitly quantized networks
/// ("Working with Quantized Types"): signed bytes, symmetric (no zero point but 0), parameters
/// fixed, activations with one scale, weights with one or one for each output channel, biases
/// float. Errors (Unsupported): one line that names every place and what to set in the recipe.
Result<void> checkTensorRt(const OnnxView& view);

/// Whether TensorRT can multiply with integers there, and why not.
struct TensorRtAnswer
{
    std::string kernel, reason;
};
TensorRtAnswer tensorRtAnswer(const OnnxView& view, const OnnxNode& node);
/// True for operators that `tensorRtAnswer` covers.
bool isTensorRtLayer(const OnnxNode& node);

} // namespace qs

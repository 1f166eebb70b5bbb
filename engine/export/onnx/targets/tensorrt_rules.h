// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/export/onnx/targets/onnx_view.h"

#include <string>

namespace qs {

/// Checks a graph against the rules of NVIDIA's TensorRT guide for explicitly quantized networks
/// ("Working with Quantized Types"): signed 8-bit integers, zero point 0, fixed parameters, one
/// scale for activations, one scale or one per output channel for weights, float biases. Errors
/// (Unsupported): one message that names every violation and what to set in the recipe.
Result<void> checkTensorRt(const OnnxView& view);

/// Kernel and reason as in `OnnxPlanRow`: whether TensorRT can compute a layer with integers.
struct TensorRtAnswer
{
    std::string kernel, reason;
};
TensorRtAnswer tensorRtAnswer(const OnnxView& view, const OnnxNode& node);
/// True for operators that `tensorRtAnswer` covers.
bool isTensorRtLayer(const OnnxNode& node);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/onnx_model.h"

namespace qs {

/// Places pairs and biases so that ONNX Runtime's CPU provider finds its integer kernels
/// (`OrtFusions`):
/// - a Clip before a QuantizeLinear (a range narrower than its integers) becomes one of the
///   integers after it: the same numbers, and the QuantizeLinear stands at the operator;
/// - the bias of a Conv or Gemm that gets an integer kernel is stored as int32, its step the
///   product of the steps of input and weight; one that int32 cannot hold stays float.
/// `calibrated`: as for `OrtFusions`.
void placeForOrt(OnnxGraph& graph, bool calibrated = true);

} // namespace qs

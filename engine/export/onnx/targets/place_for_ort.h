// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/onnx_model.h"

namespace qs {

/// Moves a Clip in front of a QuantizeLinear (for a range narrower than the integer type) to the
/// integers after it. Results are equal, and the QuantizeLinear directly follows the operator, as
/// runtimes expect.
Result<void> cutBytes(OnnxGraph& graph, const JobContext& job = {});

/// Places pairs and biases so that ONNX Runtime's CPU provider finds its integer kernels
/// (`OrtFusions`):
/// - removes a Clip that `cutBytes` made redundant;
/// - stores the bias of a Conv or Gemm with an integer kernel as int32, its scale the product of
///   the scales of input and weight; a bias beyond int32 stays float.
/// `calibrated`: as for `OrtFusions`.
Result<void> placeForOrt(OnnxGraph& graph, bool calibrated = true, const JobContext& job = {});

} // namespace qs

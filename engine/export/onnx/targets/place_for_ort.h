// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/onnx_model.h"

namespace qs {

/// A Clip before a QuantizeLinear (a range narrower than its bytes) becomes one of the bytes after
/// it: the same numbers, and the QuantizeLinear stands at the operator, where runtimes look for it.
Result<void> cutBytes(OnnxGraph& graph, const JobContext& job = {});

/// Places pairs and biases so that ONNX Runtime's CPU provider finds its integer kernels
/// (`OrtFusions`):
/// - a Clip that `cutBytes` made needless goes;
/// - the bias of a Conv or Gemm that gets an integer kernel is stored as int32, its step the
///   product of the steps of input and weight; one that int32 cannot hold stays float.
/// `calibrated`: as for `OrtFusions`.
Result<void> placeForOrt(OnnxGraph& graph, bool calibrated = true, const JobContext& job = {});

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/export/onnx/onnx_model.h"
#include "engine/export/onnx/onnx_target.h"
#include "engine/export/onnx_opset.h"
#include "engine/graph/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

struct OnnxOptions
{
    std::int64_t opset = kOnnxOpset; ///< of ai.onnx
    OnnxTarget target = OnnxTarget::Generic;
    std::uint64_t inlineLimit = kOnnxInlineLimit; ///< bytes of tensors inside the file itself
    bool calibrated = true; ///< false: scales are placeholders
    std::vector<std::string> outputs; ///< names of the flattened outputs; empty: the graph's names
    OnnxMetadata metadata; ///< of the file, in addition to the graph's
};

/// The reference form as an ONNX model. Its quantize-dequantize pairs become QuantizeLinear and
/// DequantizeLinear; weights are stored as integers. Inputs and outputs have the model's names;
/// nested outputs are flattened. Errors (Unsupported): an operator without an ONNX form (names the
/// first node and its module and lists every such operator), state updates, integers that the
/// target does not support; Cancelled.
Result<OnnxModel> onnxModel(const Graph& reference, const OnnxOptions& options = {},
                            const JobContext& job = {});

/// Checks before calibration that every operator of a float model has an ONNX form. Errors: as
/// `onnxModel`, except for unsupported arguments, which only `onnxModel` detects.
Result<void> checkOnnxOperators(const Graph& model);

/// Writes the model of `onnxModel` to `path`. Tensors that are too large for one file are written
/// beside `finalPath`, to which the caller moves the model later.
Result<void> writeOnnx(const Graph& reference, const std::string& path,
                       const std::string& finalPath, const OnnxOptions& options = {},
                       const JobContext& job = {});

} // namespace qs

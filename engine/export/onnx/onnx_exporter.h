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
    bool calibrated = true; ///< else the graph is an outline, its scales stand for none
    std::vector<std::string> outputs; ///< how the model names them, flat; empty: as the graph does
    OnnxMetadata metadata; ///< of the file, beside what the graph tells
};

/// The reference form as an ONNX model: QuantizeLinear and DequantizeLinear where it has its pairs,
/// weights stored as integers. Inputs and outputs have the model's names, output structure flat.
/// Errors (Unsupported), before anything is written: an operator without an ONNX form (names the
/// first node and its module and lists every such operator), state that a call leaves behind,
/// integers that the target does not take; a cancel.
Result<OnnxModel> onnxModel(const Graph& reference, const OnnxOptions& options = {},
                            const JobContext& job = {});

/// Whether every operator of a float model has an ONNX form, told before anything is calibrated.
/// Errors: as `onnxModel`; what an operator's arguments rule out is found there alone.
Result<void> checkOnnxOperators(const Graph& model);

/// Writes it to `path`; large tensors beside `finalPath`, where the model is going to stand.
Result<void> writeOnnx(const Graph& reference, const std::string& path,
                       const std::string& finalPath, const OnnxOptions& options = {},
                       const JobContext& job = {});

} // namespace qs

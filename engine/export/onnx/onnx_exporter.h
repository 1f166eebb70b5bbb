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
    bool calibrated = true; ///< else the graph is an outline without real scales
    std::vector<std::string> outputs; ///< the model's names, flat; empty: the graph's
    OnnxMetadata metadata; ///< of the file, beside the graph's own
};

/// The reference form as an ONNX model: QuantizeLinear and DequantizeLinear where it has its pairs,
/// weights stored as integers. Inputs and outputs have the model's names, output structure flat.
/// Errors (Unsupported), before anything is written: an operator without an ONNX form (names the
/// first node and its module and lists every such operator), state updates, integers that the
/// target does not take; a cancel.
Result<OnnxModel> onnxModel(const Graph& reference, const OnnxOptions& options = {},
                            const JobContext& job = {});

/// Checks before calibration that every operator of a float model has an ONNX form. Errors: as
/// `onnxModel`; only that finds arguments without a form.
Result<void> checkOnnxOperators(const Graph& model);

/// Writes it to `path`; large tensors beside `finalPath`, the model's later place.
Result<void> writeOnnx(const Graph& reference, const std::string& path,
                       const std::string& finalPath, const OnnxOptions& options = {},
                       const JobContext& job = {});

} // namespace qs

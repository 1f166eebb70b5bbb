// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/convert/converted_model.h"
#include "engine/export/onnx/onnx_model.h"
#include "engine/export/onnx/onnx_target.h"

#include <map>
#include <string>
#include <vector>

namespace qs {

/// The expected execution of one node of an ONNX file in its target runtime.
struct OnnxPlanRow
{
    std::string name, onnx; ///< the ONNX node's name and operator
    std::string node, op, module; ///< the model's node it came from
    std::vector<std::int64_t>
        quantizedInputs; ///< positions of inputs that are dequantized integers
    std::string bias; ///< "float", "int32"; "" = no bias
    std::string kernel; ///< the expected fused kernel; "" = no fused kernel
    std::string reason; ///< why no fused kernel is expected
};

/// The expected execution of a file, node by node. A value.
struct OnnxPlan
{
    OnnxTarget target = OnnxTarget::Generic;
    std::int64_t opset = 0;
    bool calibrated = true; ///< false: scales not known yet; a Clip is assumed to be redundant
    std::vector<OnnxPlanRow> rows;

    std::map<std::string, std::int64_t> kernels() const; ///< number of nodes by expected kernel
};

/// Plans a model: one row for every operator that could have an integer kernel or reads integers.
/// `target` must be the target that the model was made for.
OnnxPlan onnxPlan(const OnnxModel& model, OnnxTarget target, bool calibrated = true);

/// Plans the file that `--export onnx` would write. Takes `calibrated` from the converted model.
/// Errors: as `onnxModel`.
Result<OnnxPlan> planOnnx(const ConvertedModel& converted, std::int64_t opset, OnnxTarget target);

/// `{"format": "quantscope.onnx-plan", "target", "opset", "calibrated", "kernels", "nodes": [...]}`
std::string onnxPlanJson(const OnnxPlan& plan);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/targets/onnx_plan.h"

#include <string>

namespace qs {

/// Formats a plan of an ONNX file as a table, with the numbers of expected kernels.
std::string onnxPlanText(const OnnxPlan& plan);

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/onnx/targets/onnx_plan.h"

#include <string>

namespace qs {

/// A plan of an ONNX file as a table, with the kernels that are expected counted.
std::string onnxPlanText(const OnnxPlan& plan);

} // namespace qs

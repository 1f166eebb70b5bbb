// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The runtime that an ONNX file is written for. Its fusion rules decide where
/// quantize-dequantize pairs are placed and how biases are stored.
enum class OnnxTarget : std::uint8_t
{
    Generic, ///< results as in the reference form, except for rounding of sums
    OrtCpu, ///< ONNX Runtime's CPU provider, with integer kernels where possible
    TensorRt ///< signed 8-bit integers with zero point 0, float biases
};

/// The target by its name on the command line and in the window; empty for an unknown name.
std::optional<OnnxTarget> onnxTargetFromName(std::string_view name);
std::string_view onnxTargetName(OnnxTarget target);
/// All names in the order in which they are offered; the first is the default.
std::vector<std::string> onnxTargetNames();

} // namespace qs

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The runtime that an ONNX file is written for; pairs and biases follow its fusion rules.
enum class OnnxTarget : std::uint8_t
{
    Generic, ///< as the reference form, up to the rounding of sums
    OrtCpu, ///< ONNX Runtime's CPU provider: integer kernels wherever the pairs allow one
    TensorRt ///< signed bytes without zero points, biases float
};

/// By the name that the command line and the window use; nothing for another.
std::optional<OnnxTarget> onnxTargetFromName(std::string_view name);
std::string_view onnxTargetName(OnnxTarget target);
/// In the order in which they are offered; the first is the default.
std::vector<std::string> onnxTargetNames();

} // namespace qs

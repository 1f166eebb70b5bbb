// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace qs {

/// The operator sets of ONNX that `--export onnx` can write, and the default.
inline constexpr std::int64_t kOldestOnnxOpset = 13, kNewestOnnxOpset = 23, kOnnxOpset = 21;

} // namespace qs

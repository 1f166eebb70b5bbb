// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/qconfig.h"

#include <string_view>

namespace qs {

/// How an operator with that qconfig is quantized.
enum class QuantizationMode : std::uint8_t
{
    Static, ///< parameters from calibration
    Dynamic, ///< activations measured at run time
    WeightOnly ///< activations stay float
};
std::string_view
quantizationModeName(QuantizationMode mode); ///< "static", "dynamic", "weight_only"

/// Returns the mode, which depends only on the dtypes of weight and activation (torch.ao
/// `get_quant_type`). Fails (BadInput) if the pair has no mode; the message names both.
Result<QuantizationMode> quantizationMode(const QConfig& qconfig);

} // namespace qs

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

/// The mode follows from the dtypes of weight and activation alone (torch.ao `get_quant_type`).
/// Errors (BadInput): a pair without a mode; the line names both.
Result<QuantizationMode> quantizationMode(const QConfig& qconfig);

} // namespace qs
